// Paints a scene's rows into a draw list. No state, no input.
#pragma once

#include <imgui.h>

#include "viewer/draw/context.h"
#include "viewer/scene/scene.h"

namespace tutti::viewer {

// Where the parts of the timeline are on screen.
struct TimelineLayout {
  ImVec2 origin;           // top left of all
  float header_width = 0;  // left of the rows
  float overview_height = 0;
  float ruler_height = 0;
  float width = 0;   // of the rows
  float height = 0;  // the same
  float scale = 1;

  float RowsX() const { return origin.x + header_width; }
  float OverviewY() const { return origin.y; }
  float RulerY() const { return origin.y + overview_height; }
  float RowsY() const { return RulerY() + ruler_height; }
};

// The rows with their marks. `hovered` is what the mouse is on.
void PaintRows(DrawContext& context, const TimelineLayout& layout, const Hit& hovered,
               ImDrawList* list);
// Labels of the rows at the left.
void PaintHeaders(DrawContext& context, const TimelineLayout& layout, ImDrawList* list);
void PaintRuler(DrawContext& context, const TimelineLayout& layout, ImDrawList* list);
// Selected range, marks, arrows, the line at the pointer: over the rows.
void PaintOverlays(DrawContext& context, const TimelineLayout& layout, ImDrawList* list);
// The whole run in small: steps, activity, search matches and where the screen is.
void PaintOverview(DrawContext& context, const TimelineLayout& layout, ImDrawList* list);

}  // namespace tutti::viewer
