// All that can be asked for with a key or by its name: one list for the keyboard, the palette, the
// help and scripts.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "viewer/app/state.h"

namespace tutti::viewer {

// Where the pointer is, for commands that act on what is below it.
struct Pointer {
  bool is_over_rows = false;
  float x = 0;  // from the left edge of the viewport
  float y = 0;  // from the top of the pinned rows
};

struct Command {
  const char* name;   // for scripts and the palette: "zoom-in"
  const char* title;  // "Zoom in"
  const char* group;  // heading in the help
  const char* keys;   // "W", "Ctrl+F", "Shift+Enter"; several with a space between; "" none
  void (*run)(State& state, const Pointer& pointer);
  bool repeats = false;  // while the key is held
};

std::span<const Command> Commands();
const Command* FindCommand(std::string_view name);

}  // namespace tutti::viewer
