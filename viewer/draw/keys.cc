#include "viewer/draw/keys.h"

#include <array>
#include <utility>

namespace tutti::viewer {
namespace {

constexpr std::array<std::pair<std::string_view, ImGuiKey>, 20> kNamed = {{
    {"Up", ImGuiKey_UpArrow},     {"Down", ImGuiKey_DownArrow},
    {"Left", ImGuiKey_LeftArrow}, {"Right", ImGuiKey_RightArrow},
    {"Home", ImGuiKey_Home},      {"End", ImGuiKey_End},
    {"Enter", ImGuiKey_Enter},    {"Escape", ImGuiKey_Escape},
    {"Delete", ImGuiKey_Delete},  {"Backspace", ImGuiKey_Backspace},
    {"Tab", ImGuiKey_Tab},        {".", ImGuiKey_Period},
    {",", ImGuiKey_Comma},        {"/", ImGuiKey_Slash},
    {"[", ImGuiKey_LeftBracket},  {"]", ImGuiKey_RightBracket},
    {"=", ImGuiKey_Equal},        {"-", ImGuiKey_Minus},
    {"F1", ImGuiKey_F1},          {"F3", ImGuiKey_F3},
}};

ImGuiKey KeyNamed(std::string_view text) {
  if (text.size() == 1 && text[0] >= 'A' && text[0] <= 'Z') {
    return static_cast<ImGuiKey>(ImGuiKey_A + (text[0] - 'A'));
  }
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '9') {
    return static_cast<ImGuiKey>(ImGuiKey_0 + (text[0] - '0'));
  }
  for (const auto& [name, key] : kNamed) {
    if (name == text) return key;
  }
  return ImGuiKey_None;
}

bool IsPressed(const Command& command, Keyboard keyboard) {
  std::string_view keys = KeysOn(keyboard, command.name, command.keys);
  while (!keys.empty()) {
    const size_t space = keys.find(' ');
    const ImGuiKeyChord chord = ParseChord(keys.substr(0, space));
    keys = space == std::string_view::npos ? std::string_view() : keys.substr(space + 1);
    if (chord == ImGuiKey_None) continue;
    const ImGuiInputFlags flags = command.repeats ? ImGuiInputFlags_Repeat : ImGuiInputFlags_None;
    if (ImGui::Shortcut(chord, flags | ImGuiInputFlags_RouteGlobal)) return true;
  }
  return false;
}

}  // namespace

ImGuiKeyChord ParseChord(std::string_view text) {
  if (text == "?") return ImGuiMod_Shift | ImGuiKey_Slash;
  ImGuiKeyChord chord = 0;
  for (;;) {
    if (text.starts_with("Ctrl+")) {
      chord |= ImGuiMod_Ctrl;
      text.remove_prefix(5);
    } else if (text.starts_with("Shift+")) {
      chord |= ImGuiMod_Shift;
      text.remove_prefix(6);
    } else if (text.starts_with("Alt+")) {
      chord |= ImGuiMod_Alt;
      text.remove_prefix(4);
    } else {
      break;
    }
  }
  const ImGuiKey key = KeyNamed(text);
  return key == ImGuiKey_None ? static_cast<ImGuiKeyChord>(ImGuiKey_None) : (chord | key);
}

void HandleKeys(DrawContext& context) {
  if (ImGui::GetIO().WantTextInput) return;
  if (ImGui::IsKeyChordPressed(ImGuiKey_Slash) ||
      ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_F)) {
    context.focus_search = true;
  }
  if (ImGui::IsKeyChordPressed(ImGuiMod_Ctrl | ImGuiKey_P)) context.focus_filter = true;
  for (const Command& command : Commands()) {
    if (*command.keys != 0 && IsPressed(command, context.settings.keyboard)) {
      command.run(context.state, context.pointer);
    }
  }
}

}  // namespace tutti::viewer
