#include "viewer/draw/ui.h"

#include <imgui.h>
#include <imgui_internal.h>  // the first arrangement of docked panels has no public interface
#include <imgui_stdlib.h>
#include <implot.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "viewer/draw/keys.h"
#include "viewer/model/clocks.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

float ThreadCpuMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<float>(static_cast<double>(now.tv_sec) * 1e3 +
                            static_cast<double>(now.tv_nsec) / 1e6);
}

// The last part of a path.
std::string NameOf(const std::string& title) {
  std::filesystem::path run(title);
  if (!run.has_filename()) run = run.parent_path();
  return run.filename().string();
}

}  // namespace

Ui::Ui(State* state, const UiOptions& options)
    : options_(options),
      imgui_(ImGui::CreateContext()),
      implot_(ImPlot::CreateContext()),
      context_{*state, &DarkTheme(), {}, options.scale, {}, false, false, 0} {
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = options_.layout_file.empty() ? nullptr : options_.layout_file.c_str();
  io.ConfigFlags |= ImGuiConfigFlags_DockingEnable;
  io.ConfigDockingWithShift = false;
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  io.ConfigInputTrickleEventQueue = true;
  KeepSettings(&context_.settings);
  context_.fonts = LoadFonts();
  std::error_code error;
  is_arranged_ =
      !options_.layout_file.empty() && std::filesystem::exists(options_.layout_file, error);
}

Ui::~Ui() {
  ImPlot::DestroyContext(implot_);
  ImGui::DestroyContext(imgui_);
}

ImVec4 Ui::background() const { return ImGui::ColorConvertU32ToFloat4(context_.theme->background); }

bool Ui::TakePictureWish() { return std::exchange(context_.state.wants_picture, false); }

void Ui::TellOfPicture(const Result<std::string>& path) {
  context_.state.message = path.ok() ? "" : path.status().message();
  context_.state.note = path.ok() ? "picture kept as " + *path : "";
}

std::string Ui::PictureName() const { return "tutti-" + NameOf(context_.state.summary().title); }

void Ui::ArrangePanels(unsigned int dockspace) {
  if (is_arranged_) return;
  is_arranged_ = true;
  ImGui::DockBuilderRemoveNode(dockspace);
  ImGui::DockBuilderAddNode(dockspace, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(dockspace, ImGui::GetMainViewport()->WorkSize);
  ImGuiID middle = dockspace;
  const ImGuiID bottom =
      ImGui::DockBuilderSplitNode(middle, ImGuiDir_Down, 0.24F, nullptr, &middle);
  const ImGuiID left = ImGui::DockBuilderSplitNode(middle, ImGuiDir_Left, 0.14F, nullptr, &middle);
  const ImGuiID right =
      ImGui::DockBuilderSplitNode(middle, ImGuiDir_Right, 0.20F, nullptr, &middle);
  ImGui::DockBuilderDockWindow("Timeline", middle);
  ImGui::DockBuilderDockWindow("Findings", left);
  ImGui::DockBuilderDockWindow("Details", right);
  for (const char* title : {"Heat map", "Collective", "Events", "SQL", "Hang", "What if", "Compare",
                            "Flames", "Steps", "Search", "Range", "Memory", "Notes"}) {
    ImGui::DockBuilderDockWindow(title, bottom);
  }
  ImGui::DockBuilderGetNode(middle)->SetLocalFlags(ImGuiDockNodeFlags_NoTabBar);
  ImGui::DockBuilderFinish(dockspace);
}

template <typename Function>
void Ui::DrawPanel(Panel panel, const char* title, Function&& draw) {
  State& state = context_.state;
  bool& is_shown = state.Shows(panel);
  if (!is_shown) return;
  if (ImGui::Begin(title, &is_shown, ImGuiWindowFlags_NoFocusOnAppearing)) draw();
  // To the front of its tabs, without taking the keyboard from where it is.
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  if (state.raised == panel && window->DockNode != nullptr && window->DockNode->TabBar != nullptr) {
    window->DockNode->TabBar->NextSelectedTabId = window->TabId;
    state.raised.reset();
  }
  ImGui::End();
}

// A button a panel; where a window is too narrow for all of them, a menu.
void Ui::DrawPanelButtons() {
  struct Button {
    const char* label;
    Panel panel;
  };
  static constexpr Button kButtons[] = {{"Findings", Panel::kFindings},
                                        {"Heat map", Panel::kHeatMap},
                                        {"Collective", Panel::kCollective},
                                        {"Events", Panel::kEvents},
                                        {"Flames", Panel::kFlame},
                                        {"Steps", Panel::kSteps},
                                        {"What if", Panel::kWhatIf},
                                        {"SQL", Panel::kSql},
                                        {"Range", Panel::kRange},
                                        {"Memory", Panel::kMemory},
                                        {"Notes", Panel::kNotes},
                                        {"Details", Panel::kDetails},
                                        {"Keys", Panel::kHelp}};
  State& state = context_.state;
  const float gap = 2 * ImGui::GetStyle().ItemSpacing.x;
  float width = ImGui::CalcTextSize("Light").x + gap;
  for (const Button& button : kButtons) width += ImGui::CalcTextSize(button.label).x + gap;
  const bool fits = ImGui::GetCursorPosX() + width <= ImGui::GetWindowWidth();
  if (fits) {
    ImGui::SetCursorPosX(std::max(ImGui::GetCursorPosX(), ImGui::GetWindowWidth() - width));
  } else if (!ImGui::BeginMenu("Panels")) {
    return;
  }
  for (const Button& button : kButtons) {
    const bool was_shown = state.Shows(button.panel);
    ImGui::MenuItem(button.label, nullptr, &state.Shows(button.panel));
    if (!was_shown && state.Shows(button.panel)) state.Raise(button.panel);
  }
  if (!fits) ImGui::EndMenu();
}

void Ui::DrawToolbar() {
  State& state = context_.state;
  if (!ImGui::BeginMainMenuBar()) return;
  const RunSummary& summary = state.summary();
  if (summary.has_two_runs()) {
    const std::string both = "A " + NameOf(summary.title) + "   B " + NameOf(summary.title_b);
    ImGui::TextUnformatted(both.c_str());
  } else {
    ImGui::TextUnformatted(NameOf(summary.title).c_str());
  }
  ImGui::TextDisabled("%zu %s, %zu %s", summary.ranks.size(),
                      summary.ranks.size() == 1 ? "rank" : "ranks", summary.steps.size(),
                      summary.steps.size() == 1 ? "step" : "steps");
  ImGui::SetCursorPosX(std::max(ImGui::GetCursorPosX(), 280 * context_.scale));
  // A narrow window keeps its buttons.
  ImGui::SetNextItemWidth(std::min(320 * context_.scale, ImGui::GetWindowWidth() * 0.18F));
  if (context_.focus_search) {  // SetKeyboardFocusHere does nothing in a menu bar
    ImGui::ActivateItemByID(ImGui::GetID("##search"));
    ImGui::GetCurrentContext()->NavNextActivateFlags = ImGuiActivateFlags_PreferInput;
    context_.focus_search = false;
  }
  if (!ImGui::IsAnyItemActive()) search_text_ = state.search().text;
  if (ImGui::InputTextWithHint("##search", "search all names (/)", &search_text_)) {
    state.Search(search_text_.size() >= 2 ? search_text_ : "");
  }
  const bool was_typing = ImGui::IsItemDeactivated();
  if (was_typing && ImGui::IsKeyPressed(ImGuiKey_Enter)) {
    state.GoToHit(ImGui::GetIO().KeyShift ? -1 : 1);
    context_.focus_search = true;  // so that Enter goes on
  } else if (was_typing && ImGui::IsKeyPressed(ImGuiKey_Escape)) {
    state.Search("");
  }
  if (!state.search().text.empty()) {
    ImGui::TextDisabled("%s found", FormatCount(state.search().result.total).c_str());
    if (ImGui::SmallButton("<##hit")) state.GoToHit(-1);
    if (ImGui::SmallButton(">##hit")) state.GoToHit(1);
  }
  DrawPanelButtons();
  if (ImGui::MenuItem(state.is_dark ? "Light" : "Dark")) state.is_dark = !state.is_dark;
  ImGui::EndMainMenuBar();
}

void Ui::DrawLossBanner() {
  State& state = context_.state;
  int64_t lost = state.summary().EventsLost();
  std::string text;
  if (lost > 0) text = FormatCount(lost) + " events were lost: figures near them are too small";
  for (uint32_t slot = 0; slot < state.ranks().size(); ++slot) {
    if (state.ranks()[slot] == nullptr || state.ranks()[slot]->status.ok()) continue;
    if (!text.empty()) text += ";  ";
    text += state.ranks()[slot]->status.message();
  }
  if (!state.message.empty()) text += (text.empty() ? "" : ";  ") + state.message;
  if (text.empty()) return;
  const float height = ImGui::GetFrameHeight();
  ImGui::PushStyleColor(ImGuiCol_MenuBarBg,
                        ImGui::ColorConvertU32ToFloat4(WithAlpha(context_.theme->alarm, 0.85F)));
  if (ImGui::BeginViewportSideBar("##losses", nullptr, ImGuiDir_Up, height,
                                  ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_MenuBar)) {
    if (ImGui::BeginMenuBar()) {
      ImGui::PushStyleColor(ImGuiCol_Text, IM_COL32(0, 0, 0, 255));
      if (ImGui::MenuItem(text.c_str())) state.Shows(Panel::kFindings) = true;
      ImGui::PopStyleColor();
      ImGui::EndMenuBar();
    }
  }
  ImGui::End();
  ImGui::PopStyleColor();
}

// Which clocks the times are of; a click shows the others.
void Ui::DrawClocks() {
  State& state = context_.state;
  if (!state.has_several_clocks()) return;
  std::optional<int64_t> error_ns;
  for (size_t slot = 0; slot < state.ranks().size(); ++slot) {
    error_ns = std::max(error_ns, ClockErrorNs(state.summary(), slot));
  }
  std::string text = "clocks: each host's own";
  if (!state.shows_own_clocks()) {
    text = "clocks: aligned";
    text += error_ns.has_value() ? " ±" + FormatNs(*error_ns) : ", how well is unknown";
  }
  ImGui::TextDisabled("  |");
  if (ImGui::MenuItem((text + "###clocks").c_str())) {
    state.ShowOwnClocks(!state.shows_own_clocks());
  }
}

void Ui::DrawStatusBar() {
  State& state = context_.state;
  const RunSummary& summary = state.summary();
  int64_t events = 0;
  for (const auto& rank : state.ranks()) events += rank == nullptr ? 0 : rank->events();
  std::string text = FormatCount(events) + " events";
  if (!state.session().is_complete()) {
    text += ", " + std::to_string(state.session().loaded()) + " of " +
            std::to_string(summary.ranks.size()) + " ranks loaded";
  }
  text += "  |  " + FormatCount(summary.EventsLost()) + " lost";
  if (context_.pointer.is_over_rows) {
    const int64_t time = state.viewport().ToTime(static_cast<double>(context_.pointer.x));
    text += "  |  " +
            FormatTime(time - summary.begin_ns,
                       std::max<int64_t>(1, static_cast<int64_t>(state.viewport().ns_per_px())));
  }
  if (ImGui::BeginViewportSideBar("##status", nullptr, ImGuiDir_Down, ImGui::GetFrameHeight(),
                                  ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_MenuBar)) {
    if (ImGui::BeginMenuBar()) {
      ImGui::TextDisabled("%s", text.c_str());
      DrawClocks();
      if (const Status cache = state.session().cache_status(); !cache.ok()) {
        ImGui::TextDisabled("  |");
        ImGui::PushStyleColor(ImGuiCol_Text, context_.theme->alarm);
        ImGui::TextUnformatted("not kept for the next time");
        ImGui::PopStyleColor();
        if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", cache.message().c_str());
      }
      if (!state.note.empty()) ImGui::Text("  |  %s", state.note.c_str());
      if (!options_.layout_file.empty())
        ImGui::TextDisabled("  |  %.1f ms a frame", static_cast<double>(context_.frame_ms));
      ImGui::EndMenuBar();
    }
  }
  ImGui::End();
}

void Ui::Draw() {
  const float begin_ms = ThreadCpuMs();
  State& state = context_.state;
  state.Update();
  // Pictures and tests are to be the same whenever they are made.
  state.animates = !options_.layout_file.empty() && context_.settings.animates;
  state.Advance(static_cast<double>(ImGui::GetIO().DeltaTime));
  if (!has_theme_ || theme_is_dark_ != state.is_dark) {
    has_theme_ = true;
    theme_is_dark_ = state.is_dark;
    context_.theme = state.is_dark ? &DarkTheme() : &LightTheme();
    ApplyTheme(*context_.theme, options_.scale);
  }
  HandleKeys(context_);
  DrawToolbar();
  DrawLossBanner();
  DrawStatusBar();
  const ImGuiID dockspace = ImGui::DockSpaceOverViewport(ImGui::GetID("panels"));
  ArrangePanels(dockspace);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  if (ImGui::Begin("Timeline", nullptr,
                   ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse)) {
    ImGui::PopStyleVar();  // what floats above the rows has room around its text
    timeline_.Draw(context_);
  } else {
    ImGui::PopStyleVar();
  }
  ImGui::End();
  DrawPanel(Panel::kFindings, "Findings", [&] { DrawFindings(context_); });
  DrawPanel(Panel::kDetails, "Details", [&] { DrawDetails(context_); });
  DrawPanel(Panel::kHeatMap, "Heat map", [&] { heat_map_.Draw(context_); });
  DrawPanel(Panel::kCollective, "Collective", [&] { DrawCollective(context_); });
  DrawPanel(Panel::kEvents, "Events", [&] { events_.Draw(context_); });
  DrawPanel(Panel::kSql, "SQL", [&] { sql_.Draw(context_); });
  DrawPanel(Panel::kHang, "Hang", [&] { DrawHang(context_); });
  DrawPanel(Panel::kWhatIf, "What if", [&] { what_if_.Draw(context_); });
  DrawPanel(Panel::kCompare, "Compare", [&] { compare_.Draw(context_); });
  DrawPanel(Panel::kFlame, "Flames", [&] { flame_.Draw(context_); });
  DrawPanel(Panel::kSteps, "Steps", [&] { steps_.Draw(context_); });
  DrawPanel(Panel::kSearch, "Search", [&] { DrawSearch(context_); });
  DrawPanel(Panel::kRange, "Range", [&] { DrawRange(context_); });
  DrawPanel(Panel::kMemory, "Memory", [&] { memory_.Draw(context_); });
  DrawPanel(Panel::kNotes, "Notes", [&] { notes_.Draw(context_); });
  if (state.Shows(Panel::kHelp)) DrawHelp(context_);
  palette_.Draw(context_);
  context_.frame_ms = ThreadCpuMs() - begin_ms;
}

}  // namespace tutti::viewer
