// Colours, dark and light: categories in the palette of Okabe and Ito, which people with any
// common kind of colour vision can tell apart; what has a meaning of its own is hatched as well.
#pragma once

#include <imgui.h>

#include <string_view>

#include "viewer/model/category.h"

namespace tutti::viewer {

struct Theme {
  ImU32 background = 0;
  ImU32 row = 0;        // behind marks
  ImU32 row_other = 0;  // of every other rank
  ImU32 group = 0;      // behind a rank's or a node's own row
  ImU32 header = 0;     // behind the labels of rows
  ImU32 line = 0;       // between rows, ticks
  ImU32 step_line = 0;
  ImU32 text = 0;
  ImU32 dim_text = 0;
  ImU32 accent = 0;  // selection
  ImU32 range = 0;   // a selected range of time
  ImU32 alarm = 0;   // losses, what hangs
  ImU32 path = 0;    // the critical path
  bool is_dark = true;
};

const Theme& DarkTheme();
const Theme& LightTheme();

// Sets ImGui's and ImPlot's colours and spacing.
void ApplyTheme(const Theme& theme, float scale);

ImU32 ColorOf(Category category);
// The category's colour in a shade that the name decides; digits in it don't count, so that
// "step 12" and "step 13" look alike.
ImU32 ColorOf(Category category, std::string_view name);
// Black or white, whichever is readable on `color`.
ImU32 TextOn(ImU32 color);
ImU32 WithAlpha(ImU32 color, float alpha);
// Orange for more, blue for less; the stronger, the fuller, up to a quarter.
ImU32 DeltaColor(double share);
// From dark blue to yellow, even in lightness (cividis); `share` is 0 to 1.
ImU32 HeatColor(float share);

}  // namespace tutti::viewer
