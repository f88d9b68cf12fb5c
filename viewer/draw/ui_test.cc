// The real widgets, driven by Dear ImGui's Test Engine: it moves the mouse, clicks and types as a
// person does, and fails if a widget is not there or is covered.
#include "viewer/draw/ui.h"

#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_internal.h>  // which windows are tooltips has no public interface
#include <imgui_te_context.h>
#include <imgui_te_engine.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <sstream>

#include "schema/database.h"
#include "schema/sql.h"
#include "schema/testing/scratch.h"
#include "viewer/draw/keys.h"
#include "viewer/testing/null_platform.h"
#include "viewer/testing/scripted_replay.h"
#include "viewer/testing/small_run.h"

namespace tutti::viewer {
namespace {

class UiTest : public ::testing::Test {
 protected:
  using Act = void (*)(ImGuiTestContext*);

  UiTest() { Reopen(); }

  // Shows run_ as it is now.
  void Reopen() {
    platform_.reset();
    ui_.reset();
    state_ = std::make_unique<State>(
        std::make_unique<Session>(run_.summary, run_.shared_names, run_.ranks),
        testing::ScriptedReplay::Opener());
    ui_ = std::make_unique<Ui>(state_.get(), UiOptions{.scale = 1, .layout_file = ""});
    platform_ = std::make_unique<testing::NullPlatform>(ui_.get());
    for (int i = 0; i < 4; ++i) platform_->Frame();
  }

  // Lets the engine do `act` with this state and interface.
  void Drive(Act act) {
    ImGuiTestEngine* engine = ImGuiTestEngine_CreateContext();
    ImGuiTestEngineIO& io = ImGuiTestEngine_GetIO(engine);
    io.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
    io.ConfigVerboseLevel = ImGuiTestVerboseLevel_Debug;
    io.ConfigSavedSettings = false;
    io.ConfigCaptureEnabled = false;
    ImGuiTest* test = ImGuiTestEngine_RegisterTest(engine, "viewer", "drive", __FILE__, __LINE__);
    test->TestFunc = act;
    test->UserData = state_.get();
    ImGuiTestEngine_Start(engine, ImGui::GetCurrentContext());
    platform_->Frame();  // so that the engine has heard from the context
    ImGuiTestEngine_QueueTest(engine, test, ImGuiTestRunFlags_RunFromCommandLine);
    for (int frame = 0; frame < 20'000 && !ImGuiTestEngine_IsTestQueueEmpty(engine); ++frame) {
      platform_->Frame();
      ImGuiTestEngine_PostSwap(engine);
    }
    ImGuiTestEngineResultSummary summary;
    ImGuiTestEngine_GetResultSummary(engine, &summary);
    ImGuiTestEngine_Stop(engine);
    engine_ = engine;
    EXPECT_EQ(summary.CountTested, 1);
    EXPECT_EQ(summary.CountSuccess, 1) << test->Output.Log.Buffer.c_str();
  }

  // The engine goes after ImGui's context, which knows it.
  ~UiTest() override {
    platform_.reset();
    ui_.reset();
    if (engine_ != nullptr) ImGuiTestEngine_DestroyContext(engine_);
  }

  testing::SmallRun run_;
  std::unique_ptr<State> state_;
  std::unique_ptr<Ui> ui_;
  std::unique_ptr<testing::NullPlatform> platform_;
  ImGuiTestEngine* engine_ = nullptr;
};

State& StateOf(ImGuiTestContext* context) { return *static_cast<State*>(context->Test->UserData); }

TEST_F(UiTest, TypingSearchesAndEnterGoesToTheMatch) {
  Drive([](ImGuiTestContext* context) {
    context->KeyPress(ImGuiKey_Slash);
    context->Yield(3);
    context->KeyChars("nccl");
    context->Yield(2);
    IM_CHECK_EQ(StateOf(context).search().result.total, 2);
    context->KeyPress(ImGuiKey_Enter);
    context->Yield(2);
    IM_CHECK(StateOf(context).selected().has_value());
    IM_CHECK_EQ(StateOf(context).selected()->rank, 0U);
  });
}

TEST_F(UiTest, KeysMoveTheViewUnlessATextIsTyped) {
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    const int64_t whole = state.viewport().span_ns();
    context->KeyPress(ImGuiKey_W);
    context->Yield(2);
    const int64_t closer = state.viewport().span_ns();
    IM_CHECK_LT(closer, whole);
    context->KeyPress(ImGuiKey_Slash);
    context->Yield(3);
    context->KeyChars("www");
    context->Yield(2);
    IM_CHECK_EQ(state.viewport().span_ns(), closer);
  });
}

TEST_F(UiTest, ClickingAnEventSelectsItAndItsDetailsHaveButtons) {
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    const SceneRow* stream = nullptr;
    for (const SceneRow& row : state.scene().rows) {
      if (row.row.label == "stream 7" && stream == nullptr) stream = &row;
    }
    IM_CHECK(stream != nullptr);
    const ImRect rows = context->ItemInfo("//Timeline/rows").RectFull;
    const auto x = static_cast<float>(state.viewport().ToX(160));
    context->MouseMoveToPos({rows.Min.x + x, rows.Min.y + stream->y + 8});
    context->MouseClick();
    context->Yield(2);
    IM_CHECK(state.selected_event().has_value());
    IM_CHECK_EQ(state.selected_event()->row_id, 2U);
    context->ItemClick("//Details/Zoom");
    context->Yield(2);
    IM_CHECK_LT(state.viewport().span_ns(), 150);
    context->KeyPress(ImGuiKey_Backspace);
    context->Yield(2);
    IM_CHECK_GT(state.viewport().span_ns(), 300);
  });
}

TEST_F(UiTest, RowsAreDraggedByTheirLabelsAndOpenedByAClick) {
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    const ImRect labels = context->ItemInfo("//Timeline/headers").RectFull;
    const auto y_of = [&](const char* key) {
      for (const SceneRow& row : state.scene().rows) {
        if (row.row.key == key) return labels.Min.y + row.y + 8;
      }
      return -1.0F;
    };
    const size_t rows = state.tree().rows.size();
    context->MouseMoveToPos({labels.Min.x + 50, y_of("r1")});
    context->MouseDown();
    context->MouseMoveToPos({labels.Min.x + 50, y_of("r0") + 20});
    context->MouseMoveToPos({labels.Min.x + 50, y_of("r0")});
    context->MouseUp();
    context->Yield(2);
    IM_CHECK_STR_EQ(state.tree().rows.front().key.c_str(), "r1");
    IM_CHECK_EQ(state.tree().rows.size(), rows);  // and none was closed
    context->MouseMoveToPos({labels.Min.x + 50, y_of("r1")});
    context->MouseClick();
    context->Yield(2);
    IM_CHECK_LT(state.tree().rows.size(), rows);
  });
}

TEST_F(UiTest, ANarrowWindowHasItsPanelsInAMenu) {
  ImGui::GetIO().DisplaySize = ImVec2(1000, 700);
  Drive([](ImGuiTestContext* context) {
    context->Yield(2);
    context->SetRef("##MainMenuBar");
    context->MenuClick("Panels/Range");
    context->Yield(2);
    IM_CHECK(StateOf(context).Shows(Panel::kRange));
  });
}

TEST_F(UiTest, DraggingSelectsARange) {
  Drive([](ImGuiTestContext* context) {
    const ImRect rows = context->ItemInfo("//Timeline/rows").RectFull;
    context->MouseMoveToPos({rows.Min.x + 100, rows.Min.y + 60});
    context->MouseDown();
    context->MouseMoveToPos({rows.Min.x + 300, rows.Min.y + 60});
    context->MouseUp();
    context->Yield(2);
    State& state = StateOf(context);
    IM_CHECK(state.range().has_value());
    const auto width = static_cast<double>(state.range()->end_ns - state.range()->begin_ns);
    IM_CHECK_LT(std::abs(width - 200 * state.viewport().ns_per_px()),
                4 * state.viewport().ns_per_px());
    IM_CHECK(state.Shows(Panel::kRange));
  });
}

TEST_F(UiTest, ThePaletteRunsCommands) {
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    context->KeyPress(ImGuiMod_Ctrl | ImGuiMod_Shift | ImGuiKey_P);
    context->Yield(2);
    context->KeyChars("dark or");
    context->KeyPress(ImGuiKey_Enter);
    context->Yield(2);
    IM_CHECK(!state.is_dark);
    IM_CHECK(!state.Shows(Panel::kPalette));
  });
}

TEST_F(UiTest, WhatIfAsksTheReplayAsItsWidgetsSay) {
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    context->KeyPress(ImGuiKey_8);
    context->Yield(3);
    state.replay().WaitUntilIdle();
    context->Yield(3);
    context->SetRef(context->WindowInfo("//What if/controls").ID);
    context->ItemClick("no stragglers");
    context->Yield(2);
    state.replay().WaitUntilIdle();
    IM_CHECK(state.replay().answer().has_value());
    IM_CHECK_EQ((*state.replay().answer())->step_ns, 150);
    context->ItemInputValue("bandwidth of collectives", 2.0F);
    context->Yield(2);
    state.replay().WaitUntilIdle();
    IM_CHECK_STR_EQ((*state.replay().answer())->scenario.c_str(), "bandwidth=2.00+no-stragglers");
  });
}

TEST_F(UiTest, CShowsTheCriticalPathAndHidesIt) {
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    context->KeyPress(ImGuiKey_C);
    context->Yield(2);
    state.replay().WaitUntilIdle();
    context->Yield(2);
    IM_CHECK_GE(state.scene().path.size(), 3U);
    IM_CHECK_EQ(*state.SlackOf({0, 0, 0, 0}), 50);
    context->KeyPress(ImGuiKey_C);
    context->Yield(2);
    IM_CHECK(state.scene().path.empty());
  });
}

TEST_F(UiTest, EventsAreGroupedAndCopiedAsCsv) {
  Drive([](ImGuiTestContext* context) {
    context->KeyPress(ImGuiKey_5);
    context->Yield(4);
    context->SetRef("Events");
    context->ComboClick("##by/by rank");
    context->Yield(4);
    context->ItemClick("Copy as CSV");
    context->Yield(2);
    IM_CHECK_STR_EQ(ImGui::GetClipboardText(),
                    "rank,category,count,total_ns,mean_ns,longest_ns\n"
                    "rank 0,compute,44,340,7,110\n"
                    "rank 1,compute,3,240,80,130\n");
  });
}

TEST_F(UiTest, FlamesGoDownAndUp) {
  Drive([](ImGuiTestContext* context) {
    StateOf(context).Raise(Panel::kFlame);
    context->Yield(4);
    context->SetRef("Flames");
    context->ComboClick("##tracks/streams");
    context->Yield(6);
    const ImGuiID flames = context->WindowInfo("//Flames/flames").ID;
    context->SetRef(flames);
    const ImRect boxes = context->ItemInfo("boxes").RectFull;
    IM_CHECK_GT(boxes.GetHeight(), 30.0F);  // the root and what runs on streams
    context->MouseMoveToPos({boxes.Min.x + 20, boxes.Min.y + 18 + 8});
    context->MouseClick();
    context->Yield(2);
    context->SetRef("Flames");
    context->ItemClick("Up");
    context->Yield(2);
    IM_CHECK((context->ItemInfo("Up").ItemFlags & ImGuiItemFlags_Disabled) != 0);
  });
}

TEST_F(UiTest, LShowsTheHostsOwnClocks) {
  run_.summary.ranks[1].clock_offset_ns = -40;
  run_.summary.ranks[1].host = "node1";
  Reopen();
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    const Lane& lane = state.ranks()[1]->tracks[0].lanes[0];
    const int64_t aligned = lane.begin_ns(0);
    context->KeyPress(ImGuiKey_L);
    context->Yield(2);
    IM_CHECK(state.shows_own_clocks());
    IM_CHECK_EQ(state.ranks()[1]->tracks[0].lanes[0].begin_ns(0), aligned + 40);
    context->ItemClick("##status/##MenuBar/###clocks");
    context->Yield(2);
    IM_CHECK(!state.shows_own_clocks());
  });
}

TEST_F(UiTest, BFoldsRanksByTheirGroupsAndBack) {
  const schema::testing::Scratch scratch;
  run_.summary.analysis = scratch.Path("run.sqlite");
  {
    auto database = schema::Database::Create(run_.summary.analysis);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database->Execute(std::string(schema::DerivedSql())).ok());
    ASSERT_TRUE(database
                    ->Execute("PRAGMA foreign_keys = OFF;"
                              "INSERT INTO run_communicator_member"
                              " (communicator_id, rank, local_communicator_id)"
                              " VALUES (1,0,1), (1,1,1);"
                              "INSERT INTO parallel_group VALUES (1,'pipeline','')")
                    .ok());
  }
  Reopen();
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    context->KeyPress(ImGuiKey_B);
    context->Yield(2);
    IM_CHECK_EQ(state.choices().groups.size(), 1U);
    IM_CHECK_EQ(state.choices().groups[0].slots.size(), 2U);
    IM_CHECK(state.tree().rows.front().key.starts_with("g/"));
    context->KeyPress(ImGuiKey_B);
    context->Yield(2);
    IM_CHECK(state.choices().groups.empty());
  });
}

TEST_F(UiTest, AMarkIsSetWithATextAndAViewKeptByItsName) {
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    context->KeyPress(ImGuiMod_Shift | ImGuiKey_M);
    context->Yield(4);
    context->KeyChars("late");
    context->Yield(2);
    IM_CHECK_EQ(state.marks.size(), 1U);
    IM_CHECK_STR_EQ(state.marks[0].text.c_str(), "late");
    context->KeyPress(ImGuiKey_Escape);
    state.Show(100, 200);
    context->SetRef(context->WindowInfo("//Notes/views").ID);
    context->ItemInput("##name");
    context->KeyCharsReplaceEnter("here");
    context->Yield(2);
    IM_CHECK_EQ(state.views.size(), 1U);
    state.Show(0, 400);
    context->ItemClick("$$0/###view");
    context->Yield(2);
    IM_CHECK_EQ(state.viewport().begin_ns, 100);
  });
}

TEST_F(UiTest, AWheelOfTracyZooms) {
  ui_->context().settings.wheel_zooms = true;
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    const ImRect rows = context->ItemInfo("//Timeline/rows").RectFull;
    context->MouseMoveToPos(rows.GetCenter());
    const int64_t span = state.viewport().span_ns();
    context->MouseWheelY(1);
    context->Yield(2);
    IM_CHECK_LT(state.viewport().span_ns(), span);
  });
}

TEST_F(UiTest, AnotherKeyboardHasItsLettersWhereTheyLie) {
  ui_->context().settings.keyboard = Keyboard::kAzerty;
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    const int64_t span = state.viewport().span_ns();
    context->KeyPress(ImGuiKey_W);
    context->Yield(2);
    IM_CHECK_EQ(state.viewport().span_ns(), span);
    context->KeyPress(ImGuiKey_Z);
    context->Yield(2);
    IM_CHECK_LT(state.viewport().span_ns(), span);
  });
}

// Keys must not mean two things on any keyboard.
TEST(Keys, AreEachOfOneCommand) {
  for (const Keyboard keyboard : {Keyboard::kQwerty, Keyboard::kAzerty, Keyboard::kDvorak}) {
    std::map<std::string, std::string> owners;
    for (const Command& command : Commands()) {
      std::istringstream keys{std::string(KeysOn(keyboard, command.name, command.keys))};
      for (std::string key; keys >> key;) {
        EXPECT_NE(ParseChord(key), ImGuiKey_None) << key;
        const auto [owner, is_new] = owners.emplace(key, command.name);
        EXPECT_TRUE(is_new) << key << ": " << owner->second << " and " << command.name;
      }
    }
  }
}

TEST_F(UiTest, CtrlHoldsATooltipWhereItIs) {
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    const auto row = std::find_if(state.scene().rows.begin(), state.scene().rows.end(),
                                  [](const SceneRow& r) { return r.row.label == "stream 7"; });
    IM_CHECK(row != state.scene().rows.end());
    const ImRect rows = context->ItemInfo("//Timeline/rows").RectFull;
    const auto x_of = [&](int64_t t) { return static_cast<float>(state.viewport().ToX(t)); };
    const float y = rows.Min.y + row->y + 8;
    const auto tooltip = [] {
      for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows) {
        if ((window->Flags & ImGuiWindowFlags_Tooltip) != 0 && window->Active) return window->Pos;
      }
      return ImVec2(-1, -1);
    };
    context->MouseMoveToPos({rows.Min.x + x_of(50), y});
    context->Yield(3);
    IM_CHECK_GT(tooltip().x, 0.0F);
    context->KeyDown(ImGuiMod_Ctrl);
    context->Yield(3);
    const ImVec2 held = tooltip();
    context->MouseMoveToPos({rows.Min.x + x_of(115), rows.Max.y - 8});  // nothing is there
    context->Yield(3);
    IM_CHECK_EQ(tooltip().x, held.x);
    IM_CHECK_EQ(tooltip().y, held.y);
    context->KeyUp(ImGuiMod_Ctrl);
    context->Yield(3);
    IM_CHECK_LT(tooltip().x, 0.0F);
  });
}

TEST_F(UiTest, ARowsLowerEdgeIsDraggedToShowFewerLevels) {
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    const auto stream = [&] {
      for (const SceneRow& row : state.scene().rows) {
        if (row.row.key == "r0/3.0.7") return &row;
      }
      return static_cast<const SceneRow*>(nullptr);
    };
    IM_CHECK_EQ(stream()->row.lanes_shown, 2U);
    const ImRect labels = context->ItemInfo("//Timeline/headers").RectFull;
    const float top = labels.Min.y + stream()->y;
    const float edge = top + stream()->row.height - 2;
    context->MouseMoveToPos({labels.Min.x + 50, edge});
    context->MouseDown();
    context->MouseMoveToPos({labels.Min.x + 50, edge - 10});
    context->MouseMoveToPos({labels.Min.x + 50, top + 10});
    context->MouseUp();
    context->Yield(2);
    IM_CHECK_EQ(stream()->row.lanes_shown, 1U);
    IM_CHECK(stream()->row.is_open);
    context->MouseMoveToPos({labels.Max.x - 20, top + 8});  // "1 of 2 levels"
    context->MouseClick();
    context->Yield(2);
    IM_CHECK_EQ(stream()->row.lanes_shown, 2U);
  });
}

TEST_F(UiTest, TheWheelScrollsPinnedRowsThatAreTooMany) {
  for (const Row& row : std::vector<Row>(state_->tree().rows)) {
    state_->TogglePin(row.key);
  }
  ImGui::GetIO().DisplaySize = ImVec2(1400, 420);
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    context->Yield(3);
    IM_CHECK(HidesPinned(state.scene()));
    const ImRect rows = context->ItemInfo("//Timeline/rows").RectFull;
    context->MouseMoveToPos({rows.Min.x + 300, rows.Min.y + 10});
    context->MouseWheelY(-20);
    context->Yield(2);
    const SceneRow& last = state.scene().pinned.back();
    IM_CHECK_STR_EQ(last.row.key.c_str(), state.tree().pinned.back().key.c_str());
    IM_CHECK_EQ(state.scroll_y(), 0.0F);
  });
}

TEST_F(UiTest, AClickOnAColourKeepsTheRowsThatHaveIt) {
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    context->ItemClick("//Findings/copy");
    context->Yield(2);
    IM_CHECK_STR_EQ(state.choices().filter.c_str(), "category:copy");
    IM_CHECK_EQ(state.tree().rows.size(), 3U);  // rank 0, its GPU, its stream
    context->ItemClick("//Findings/copy");
    context->Yield(2);
    IM_CHECK_STR_EQ(state.choices().filter.c_str(), "");
  });
}

TEST_F(UiTest, CtrlSAsksForAPicture) {
  Drive([](ImGuiTestContext* context) {
    context->KeyPress(ImGuiMod_Ctrl | ImGuiKey_S);
    context->Yield(2);
    IM_CHECK(StateOf(context).wants_picture);
  });
  EXPECT_TRUE(ui_->TakePictureWish());
  EXPECT_FALSE(ui_->TakePictureWish());
  ui_->TellOfPicture(std::string("/a/b.png"));
  EXPECT_EQ(state_->note, "picture kept as /a/b.png");
  ui_->TellOfPicture(IoError("/a: no room"));
  EXPECT_EQ(state_->note, "");
  EXPECT_EQ(state_->message, "/a: no room");
}

TEST_F(UiTest, MemoryOfARankThatCantBeReadSaysSo) {
  Drive([](ImGuiTestContext* context) {
    State& state = StateOf(context);
    context->KeyPress(ImGuiKey_U);
    context->Yield(6);
    IM_CHECK(state.memory_place.has_value());
    IM_CHECK_EQ(state.memory_place->rank, 0U);
    IM_CHECK(state.Shows(Panel::kMemory));
  });
}

// Ten thousand frames of keys, clicks, wheels and sizes at random.
TEST_F(UiTest, SurvivesAMonkey) {
  std::mt19937 random(3);
  const auto at_most = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most));
  };
  ImGuiIO& io = ImGui::GetIO();
  for (int frame = 0; frame < 10'000; ++frame) {
    switch (at_most(6)) {
      case 0:
        io.AddMousePosEvent(static_cast<float>(at_most(1500) - 50),
                            static_cast<float>(at_most(1000) - 50));
        break;
      case 1:
        io.AddMouseButtonEvent(at_most(3), at_most(2) == 0);
        break;
      case 2:
        io.AddMouseWheelEvent(static_cast<float>(at_most(3) - 1),
                              static_cast<float>(at_most(5) - 2));
        break;
      case 3:
        io.AddKeyEvent(static_cast<ImGuiKey>(ImGuiKey_NamedKey_BEGIN + at_most(100)),
                       at_most(2) == 0);
        break;
      case 4:
        io.AddInputCharacter(static_cast<unsigned>(32 + at_most(90)));
        break;
      default:
        if (at_most(50) == 0) {
          io.DisplaySize = ImVec2(static_cast<float>(200 + at_most(1500)),
                                  static_cast<float>(150 + at_most(900)));
        }
    }
    platform_->Frame();
    ASSERT_LE(ImGui::GetDrawData()->TotalVtxCount, 200'000);
  }
  EXPECT_LT(state_->viewport().begin_ns, state_->viewport().end_ns);
}

}  // namespace
}  // namespace tutti::viewer
