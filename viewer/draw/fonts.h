// Fonts of the system's packages: Roboto Condensed for labels, JetBrains Mono for tables.
#pragma once

#include <imgui.h>

namespace tutti::viewer {

struct Fonts {
  ImFont* label = nullptr;
  ImFont* mono = nullptr;
};

// Adds the fonts to the current context; ImGui's own where a file is missing.
Fonts LoadFonts();

}  // namespace tutti::viewer
