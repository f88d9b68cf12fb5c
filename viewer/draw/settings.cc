#include "viewer/draw/settings.h"

#include <imgui_internal.h>  // handlers of the file have no public interface

#include <array>
#include <cstdio>

namespace tutti::viewer {
namespace {

struct OtherKeys {
  Keyboard keyboard;
  std::string_view command;
  std::string_view keys;
};

// W, A, S, D by where they lie, and what that displaces.
constexpr std::array kOtherKeys = {
    OtherKeys{Keyboard::kAzerty, "zoom-in", "Z ="},
    OtherKeys{Keyboard::kAzerty, "pan-left", "Q Left"},
    OtherKeys{Keyboard::kAzerty, "details", "2"},
    OtherKeys{Keyboard::kDvorak, "zoom-in", ", ="},
    OtherKeys{Keyboard::kDvorak, "zoom-out", "O -"},
    OtherKeys{Keyboard::kDvorak, "pan-right", "E Right"},
    OtherKeys{Keyboard::kDvorak, "open-row", "Shift+O"},
    OtherKeys{Keyboard::kDvorak, "previous-event", "W"},
    OtherKeys{Keyboard::kDvorak, "next-event", "V"},
    OtherKeys{Keyboard::kDvorak, "notes", "Shift+V"},
};

void* Open(ImGuiContext*, ImGuiSettingsHandler* handler, const char*) { return handler->UserData; }

void ReadLine(ImGuiContext*, ImGuiSettingsHandler*, void* entry, const char* line) {
  auto& settings = *static_cast<Settings*>(entry);
  int value = 0;
  if (std::sscanf(line, "WheelZooms=%d", &value) == 1) settings.wheel_zooms = value != 0;
  if (std::sscanf(line, "Animates=%d", &value) == 1) settings.animates = value != 0;
  if (std::sscanf(line, "Keyboard=%d", &value) == 1 && value >= 0 && value <= 2) {
    settings.keyboard = static_cast<Keyboard>(value);
  }
}

void WriteAll(ImGuiContext*, ImGuiSettingsHandler* handler, ImGuiTextBuffer* text) {
  const auto& settings = *static_cast<const Settings*>(handler->UserData);
  text->appendf("[%s][Settings]\nWheelZooms=%d\nAnimates=%d\nKeyboard=%d\n\n", handler->TypeName,
                settings.wheel_zooms ? 1 : 0, settings.animates ? 1 : 0,
                static_cast<int>(settings.keyboard));
}

}  // namespace

void KeepSettings(Settings* settings) {
  ImGuiSettingsHandler handler;
  handler.TypeName = "Tutti";
  handler.TypeHash = ImHashStr(handler.TypeName);
  handler.ReadOpenFn = &Open;
  handler.ReadLineFn = &ReadLine;
  handler.WriteAllFn = &WriteAll;
  handler.UserData = settings;
  ImGui::AddSettingsHandler(&handler);
}

std::string_view KeysOn(Keyboard keyboard, std::string_view command, std::string_view keys) {
  for (const OtherKeys& other : kOtherKeys) {
    if (other.keyboard == keyboard && other.command == command) return other.keys;
  }
  return keys;
}

}  // namespace tutti::viewer
