#include "viewer/draw/painter.h"

#include <algorithm>

#include "viewer/draw/row_painter.h"

namespace tutti::viewer {
namespace {

void PaintStepLines(DrawContext& context, const TimelineLayout& layout, ImDrawList* list) {
  for (const StepLine& step : context.state.scene().steps) {
    const float x = layout.RowsX() + step.x0;
    list->AddLine({x, layout.RowsY()}, {x, layout.RowsY() + layout.height},
                  context.theme->step_line);
  }
}

// Along the rows, with a line from each mark to the next.
void PaintPath(DrawContext& context, const TimelineLayout& layout, ImDrawList* list) {
  const ImU32 color = context.theme->path;
  const PathMark* last = nullptr;
  for (const PathMark& mark : context.state.scene().path) {
    const float x0 = layout.RowsX() + mark.x0;
    const float x1 = layout.RowsX() + std::max(mark.x1, mark.x0 + 1.5F);
    const float y = layout.RowsY() + mark.y * layout.scale;
    if (last != nullptr && last->y != mark.y) {
      list->AddLine({x0, layout.RowsY() + last->y * layout.scale}, {x0, y},
                    WithAlpha(color, 0.55F));
    }
    list->AddRectFilled({x0, y - 1.5F * layout.scale}, {x1, y + 1.5F * layout.scale}, color);
    last = &mark;
  }
}

// How far rows are scrolled, if not all of them are on screen. In pixels at scale 1.
void PaintScrollBar(const DrawContext& context, const TimelineLayout& layout, float top,
                    float height, float scroll, float total, ImDrawList* list) {
  if (total <= height || height <= 0) return;
  const float right = layout.RowsX() + layout.width;
  const float y0 = layout.RowsY() + (top + height * scroll / total) * layout.scale;
  const float y1 = layout.RowsY() + (top + height * (scroll + height) / total) * layout.scale;
  list->AddRectFilled({right - 6 * layout.scale, y0}, {right - layout.scale, std::max(y1, y0 + 8)},
                      WithAlpha(context.theme->dim_text, 0.7F), 2 * layout.scale);
}

}  // namespace

void PaintRows(DrawContext& context, const TimelineLayout& layout, const Hit& hovered,
               ImDrawList* list) {
  const Scene& scene = context.state.scene();
  const ImVec2 from{layout.RowsX(), layout.RowsY()};
  const ImVec2 to{layout.RowsX() + layout.width, layout.RowsY() + layout.height};
  const float pinned = scene.pinned_height * layout.scale;
  list->PushClipRect({from.x, from.y + pinned}, to, true);
  PaintSceneRows(context, layout, hovered, scene.rows, list);
  PaintStepLines(context, layout, list);
  PaintPath(context, layout, list);
  PaintScrollBar(context, layout, scene.pinned_height,
                 layout.height / layout.scale - scene.pinned_height, context.state.scroll_y(),
                 scene.total_height, list);
  list->PopClipRect();
  if (scene.pinned.empty()) return;
  list->PushClipRect(from, {to.x, from.y + pinned}, true);
  PaintSceneRows(context, layout, hovered, scene.pinned, list);
  PaintScrollBar(context, layout, 0, scene.pinned_height, scene.pinned_scroll, scene.pinned_total,
                 list);
  list->PopClipRect();
  list->AddLine({layout.origin.x, from.y + pinned}, {to.x, from.y + pinned}, context.theme->accent,
                1.5F);
}

}  // namespace tutti::viewer
