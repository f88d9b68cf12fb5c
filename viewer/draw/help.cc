// The keys, and every command by its name.
#include <imgui.h>
#include <imgui_internal.h>  // that settings are to be written has no public interface
#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>

#include "viewer/draw/panels.h"
#include "viewer/draw/widgets.h"

namespace tutti::viewer {

namespace {

void DrawSettings(Settings& settings) {
  ImGui::SeparatorText("Settings");
  int wheel = settings.wheel_zooms ? 1 : 0;
  int keyboard = static_cast<int>(settings.keyboard);
  ImGui::SetNextItemWidth(250);
  bool is_changed =
      ImGui::Combo("wheel", &wheel, "as in Perfetto, Nsight Systems\0as in Tracy: it zooms\0");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(120);
  is_changed |= ImGui::Combo("keyboard", &keyboard, "QWERTY\0AZERTY\0Dvorak\0");
  ImGui::SameLine();
  is_changed |= ImGui::Checkbox("views glide", &settings.animates);
  settings.wheel_zooms = wheel == 1;
  settings.keyboard = static_cast<Keyboard>(keyboard);
  if (is_changed) ImGui::MarkIniSettingsDirty();
}

}  // namespace

void DrawHelp(DrawContext& context) {
  State& state = context.state;
  const ImGuiViewport* screen = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(screen->GetCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
  bool is_open = true;
  if (ImGui::Begin("Keys", &is_open,
                   ImGuiWindowFlags_AlwaysAutoResize | ImGuiWindowFlags_NoDocking |
                       ImGuiWindowFlags_NoSavedSettings)) {
    const char* group = "";
    int column = 0;
    if (ImGui::BeginTable("keys", 2, ImGuiTableFlags_SizingFixedFit)) {
      ImGui::TableNextColumn();
      for (const Command& command : Commands()) {
        if (std::string_view(group) != command.group) {
          group = command.group;
          if (column++ == 1) ImGui::TableNextColumn();
          ImGui::SeparatorText(group);
        }
        if (*command.keys == 0) continue;
        ImGui::PushFont(context.fonts.mono, 0);
        ImGui::TextColored(
            ImGui::ColorConvertU32ToFloat4(context.theme->dim_text), "%-16s",
            std::string(KeysOn(context.settings.keyboard, command.name, command.keys)).c_str());
        ImGui::PopFont();
        ImGui::SameLine();
        Text(command.title);
      }
      ImGui::EndTable();
    }
    ImGui::SeparatorText("Mouse");
    Text(context.settings.wheel_zooms
             ? "wheel: zoom at the pointer, finely with Ctrl    Shift+wheel: time    right drag or "
               "Shift+drag: move"
             : "wheel: rows    Ctrl+wheel: zoom at the pointer    Shift+wheel: time    right drag "
               "or "
               "Shift+drag: move");
    Text(
        "left drag: select a range    middle drag: zoom to it    double-click: zoom to the event   "
        " "
        "right click: menu    Alt while dragging: no snapping to events");
    DrawSettings(context.settings);
  }
  ImGui::End();
  if (!is_open) state.Shows(Panel::kHelp) = false;
}

void Palette::Draw(DrawContext& context) {
  State& state = context.state;
  if (!state.Shows(Panel::kPalette)) {
    was_open_ = false;
    return;
  }
  const ImGuiViewport* screen = ImGui::GetMainViewport();
  ImGui::SetNextWindowPos({screen->GetCenter().x, screen->Pos.y + 90 * context.scale},
                          ImGuiCond_Always, {0.5F, 0});
  ImGui::SetNextWindowSize({520 * context.scale, 0});
  ImGui::Begin("##palette", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoDocking |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_AlwaysAutoResize);
  if (!was_open_) {
    text_.clear();
    chosen_ = 0;
    ImGui::SetKeyboardFocusHere();
    was_open_ = true;
  }
  ImGui::SetNextItemWidth(-1);
  const bool is_entered = ImGui::InputTextWithHint("##command", "command, or RANK:STEP", &text_,
                                                   ImGuiInputTextFlags_EnterReturnsTrue);
  if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) ++chosen_;
  if (ImGui::IsKeyPressed(ImGuiKey_UpArrow)) --chosen_;
  std::vector<const Command*> found;
  for (const Command& command : Commands()) {
    const auto same = [](unsigned char a, unsigned char b) {
      return std::tolower(a) == std::tolower(b);
    };
    const std::string_view title = command.title;
    if (std::search(title.begin(), title.end(), text_.begin(), text_.end(), same) != title.end()) {
      found.push_back(&command);
    }
  }
  chosen_ = std::clamp(chosen_, 0, std::max(0, static_cast<int>(found.size()) - 1));
  const Command* wanted = nullptr;
  for (size_t i = 0; i < std::min<size_t>(found.size(), 14); ++i) {
    if (ImGui::Selectable(found[i]->title, static_cast<int>(i) == chosen_)) wanted = found[i];
    ImGui::SameLine(ImGui::GetContentRegionAvail().x - 100 * context.scale);
    Dim(context, found[i]->keys);
  }
  ImGui::End();
  if (is_entered && !found.empty()) wanted = found[static_cast<size_t>(chosen_)];
  if (is_entered && found.empty()) {
    const Status status = state.GoToPlace(text_);
    state.message = status.ok() ? "" : status.message();
    state.Shows(Panel::kPalette) = false;
  }
  if (wanted == nullptr) return;
  state.Shows(Panel::kPalette) = false;
  wanted->run(state, Pointer());
}

}  // namespace tutti::viewer
