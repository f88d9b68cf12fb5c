// What every part of the interface draws with. Lives as long as the Ui.
#pragma once

#include <string>

#include "viewer/app/commands.h"
#include "viewer/app/state.h"
#include "viewer/draw/fonts.h"
#include "viewer/draw/settings.h"
#include "viewer/draw/theme.h"

namespace tutti::viewer {

struct DrawContext {
  State& state;
  const Theme* theme = nullptr;
  Fonts fonts;
  float scale = 1;
  Pointer pointer;            // over the timeline, last frame
  bool focus_search = false;  // the search box is to take the keyboard
  bool focus_filter = false;  // the same of the row filter
  float frame_ms = 0;         // CPU time of the last frame
  Settings settings = {};
};

}  // namespace tutti::viewer
