#include "viewer/platform/player.h"

#include <imgui.h>
#include <imgui_impl_opengl3.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>

#include "viewer/app/commands.h"
#include "viewer/draw/keys.h"
#include "viewer/platform/picture.h"
#include "viewer/scene/dump.h"

namespace tutti::viewer {
namespace {

constexpr int kSettle = 3;  // frames until panels have their sizes

Result<double> NumberIn(const ScriptLine& line, size_t word) {
  const std::string& text = line.words[word];
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return UsageError("script line " + std::to_string(line.number) + ": '" + text + "' is no number");
}

Status Complaint(const ScriptLine& line, const std::string& what) {
  return UsageError("script line " + std::to_string(line.number) + ": " + what);
}

}  // namespace

Status WriteTextTo(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return OkStatus();
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  return file.good() ? OkStatus() : IoError(path + ": can't be written");
}

Result<std::unique_ptr<Player>> Player::Create(State* state, int width, int height, float scale) {
  TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<Offscreen> offscreen, Offscreen::Create(width, height));
  std::unique_ptr<Player> player(new Player(state, std::move(offscreen), scale));
  if (!ImGui_ImplOpenGL3_Init("#version 330")) return UnavailableError("no OpenGL 3.3");
  player->Frames(kSettle);
  return player;
}

Player::Player(State* state, std::unique_ptr<Offscreen> offscreen, float scale)
    : state_(*state),
      offscreen_(std::move(offscreen)),
      ui_(std::make_unique<Ui>(state, UiOptions{.scale = scale, .layout_file = ""})) {}

Player::~Player() {
  if (ImGui::GetIO().BackendRendererUserData != nullptr) ImGui_ImplOpenGL3_Shutdown();
}

void Player::Frames(int count) {
  for (int i = 0; i < count; ++i) {
    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize =
        ImVec2(static_cast<float>(offscreen_->width()), static_cast<float>(offscreen_->height()));
    io.DeltaTime = 1.0F / 60;
    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    ui_->Draw();
    ImGui::Render();
    const ImVec4 back = ui_->background();
    offscreen_->Clear(back.x, back.y, back.z);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  }
}

std::string Player::Dump() { return DumpScene(state_.scene(), state_.session().names()); }

Status Player::Play(const std::vector<ScriptLine>& lines) {
  for (const ScriptLine& line : lines) {
    TUTTI_RETURN_IF_ERROR(Do(line));
    Frames(kSettle);
  }
  return OkStatus();
}

Status Player::Do(const ScriptLine& line) {
  if (line.verb == "png") return WritePng(Picture(), line.words[0]);
  if (line.verb == "dump") return WriteTextTo(line.words[0], Dump());
  if (line.verb == "frames") {
    TUTTI_ASSIGN_OR_RETURN(const double count, NumberIn(line, 0));
    Frames(static_cast<int>(std::clamp(count, 0.0, 10'000.0)));
    return OkStatus();
  }
  if (line.verb == "size") {
    int width = 0;
    int height = 0;
    if (std::sscanf(line.words[0].c_str(), "%dx%d", &width, &height) !=
            2 ||  // NOLINT(cert-err34-c)
        width < 100 ||
        height < 100 || width > 16'384 || height > 16'384) {
      return Complaint(line, "a size is WIDTHxHEIGHT");
    }
    return offscreen_->Resize(width, height);
  }
  const bool is_input = line.verb == "move" || line.verb == "click" || line.verb == "drag" ||
                        line.verb == "wheel" || line.verb == "key" || line.verb == "type";
  return is_input ? DoInput(line) : DoView(line);
}

Status Player::DoView(const ScriptLine& line) {
  if (line.verb == "goto") return state_.GoToPlace(line.words[0]);
  if (line.verb == "search") {
    state_.Search(line.rest);
  } else if (line.verb == "filter") {
    state_.Filter(line.rest);
  } else if (line.verb == "theme") {
    state_.is_dark = line.words[0] != "light";
  } else if (line.verb == "zoom") {
    TUTTI_ASSIGN_OR_RETURN(const double from_ms, NumberIn(line, 0));
    TUTTI_ASSIGN_OR_RETURN(const double to_ms, NumberIn(line, 1));
    const int64_t origin = state_.summary().begin_ns;
    state_.Show(origin + static_cast<int64_t>(from_ms * 1e6),
                origin + static_cast<int64_t>(to_ms * 1e6));
  } else if (line.verb == "select") {
    const auto filter = NameFilter::Parse(line.rest);
    if (!filter.ok()) return Complaint(line, filter.status().message());
    const SearchResult found = viewer::Search(state_.ranks(), state_.session().names(), *filter, 1);
    if (found.hits.empty()) return Complaint(line, "no event is named '" + line.rest + "'");
    state_.GoTo(found.hits.front());
  } else if (line.verb == "command") {
    const Command* command = FindCommand(line.words[0]);
    if (command == nullptr) return Complaint(line, "there is no command '" + line.words[0] + "'");
    command->run(state_, ui_->context().pointer);
    Frames(kSettle);  // what it shows may ask the replay
    if (ui_->TakePictureWish()) {
      const Result<std::string> path = KeepPicture(Picture(), ".", ui_->PictureName());
      ui_->TellOfPicture(path);
      TUTTI_RETURN_IF_ERROR(path.status());
    }
    state_.replay().WaitUntilIdle();  // so that a picture never depends on when a thread is done
  }
  return OkStatus();
}

Status Player::DoInput(const ScriptLine& line) {
  ImGuiIO& io = ImGui::GetIO();
  if (line.verb == "type") {
    io.AddInputCharactersUTF8(line.rest.c_str());
    return OkStatus();
  }
  if (line.verb == "key") {
    const ImGuiKeyChord chord = ParseChord(line.words[0]);
    if (chord == ImGuiKey_None) return Complaint(line, "there is no key '" + line.words[0] + "'");
    const auto press = [&](bool is_down) {
      for (const ImGuiKey mod : {ImGuiMod_Ctrl, ImGuiMod_Shift, ImGuiMod_Alt}) {
        if ((chord & mod) != 0) io.AddKeyEvent(mod, is_down);
      }
      io.AddKeyEvent(static_cast<ImGuiKey>(chord & ~ImGuiMod_Mask_), is_down);
      Frames(1);
    };
    press(true);
    press(false);
    return OkStatus();
  }
  std::vector<float> numbers;
  for (size_t i = 0; i < (line.verb == "drag" ? 4U : line.verb == "wheel" ? 3U : 2U); ++i) {
    TUTTI_ASSIGN_OR_RETURN(const double number, NumberIn(line, i));
    numbers.push_back(static_cast<float>(number));
  }
  io.AddMousePosEvent(numbers[0], numbers[1]);
  Frames(1);
  if (line.verb == "move") return OkStatus();
  if (line.verb == "wheel") {
    const bool with_ctrl = line.words.size() > 3 && line.words[3] == "Ctrl";
    if (with_ctrl) io.AddKeyEvent(ImGuiMod_Ctrl, true);
    io.AddMouseWheelEvent(0, numbers[2]);
    Frames(1);
    if (with_ctrl) io.AddKeyEvent(ImGuiMod_Ctrl, false);
    return OkStatus();
  }
  io.AddMouseButtonEvent(0, true);
  Frames(1);
  if (line.verb == "drag") {
    io.AddMousePosEvent((numbers[0] + numbers[2]) / 2, (numbers[1] + numbers[3]) / 2);
    Frames(1);
    io.AddMousePosEvent(numbers[2], numbers[3]);
    Frames(1);
  }
  io.AddMouseButtonEvent(0, false);
  Frames(1);
  return OkStatus();
}

}  // namespace tutti::viewer
