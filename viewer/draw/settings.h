// What a user likes in any run: kept in the file of the panels' layout.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <string_view>

namespace tutti::viewer {

enum class Keyboard : uint8_t { kQwerty, kAzerty, kDvorak };

struct Settings {
  bool wheel_zooms = false;  // as in Tracy; else with Ctrl, as in Perfetto and Nsight Systems
  bool animates = true;
  Keyboard keyboard = Keyboard::kQwerty;
};

// Has Dear ImGui read and write them; they live longer than its context.
void KeepSettings(Settings* settings);

// A command's keys on a keyboard: those of `command` unless its letters lie elsewhere there.
std::string_view KeysOn(Keyboard keyboard, std::string_view command, std::string_view keys);

}  // namespace tutti::viewer
