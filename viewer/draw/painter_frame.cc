// What surrounds the rows: labels, ruler, what is selected.
#include <algorithm>
#include <cmath>

#include "viewer/draw/painter.h"
#include "viewer/scene/format.h"

namespace tutti::viewer {
namespace {

Category ChipCategory(const Track& track) {
  switch (track.kind) {
    case TrackKind::kSteps:
    case TrackKind::kPhases:
      return Category::kStep;
    case TrackKind::kLoader:
      return Category::kLoader;
    case TrackKind::kStream:
      return track.role == "communication" ? Category::kCommunication
             : track.role == "copy"        ? Category::kCopy
                                           : Category::kCompute;
    case TrackKind::kSync:
      return Category::kWait;
    case TrackKind::kCommunicator:
      return Category::kCommunication;
    case TrackKind::kThread:
      return track.role == "compute"         ? Category::kCompute
             : track.role == "communication" ? Category::kCommunication
             : track.role == "loader"        ? Category::kLoader
                                             : Category::kHost;
    case TrackKind::kMemory:
      return Category::kOptimizer;
    case TrackKind::kCounter:
      return Category::kCopy;
  }
  return Category::kHost;
}

// Share of the screen's time that a band's lanes work.
float BusyShare(const SceneRow& row, int width_px) {
  float sum = 0;
  for (const BandMark& mark : row.band) {
    float share = 0;
    for (const float part : mark.share) share += part;
    sum += std::min(1.0F, share) * static_cast<float>(mark.x1 - mark.x0);
  }
  return sum / static_cast<float>(width_px);
}

std::string RightText(const SceneRow& row, const RankTraces& ranks, int width_px) {
  if (row.row.kind == RowKind::kSeries) return row.unit;
  if (row.row.kind == RowKind::kNote || row.row.kind == RowKind::kCounters ||
      row.row.kind == RowKind::kDelta) {
    return "";
  }
  if (row.row.lanes_shown == 0) {
    return std::to_string(static_cast<int>(std::lround(100 * BusyShare(row, width_px)))) + " %";
  }
  if (row.row.lanes > row.row.lanes_shown) {
    return std::to_string(row.row.lanes_shown) + " of " + std::to_string(row.row.lanes) + " levels";
  }
  if (row.row.track == kNoTrack) return "";
  return FormatCount(ranks[row.row.rank]->tracks[row.row.track].events());
}

void PaintHeader(DrawContext& context, const TimelineLayout& layout, const SceneRow& row,
                 ImDrawList* list) {
  const Theme& theme = *context.theme;
  const RankTraces& ranks = context.state.ranks();
  const float top = layout.RowsY() + row.y * layout.scale;
  const float height = row.row.height * layout.scale;
  const float left = layout.origin.x;
  const float right = left + layout.header_width;
  const float line = ImGui::GetFontSize();
  const bool is_group = row.row.track == kNoTrack && row.row.kind != RowKind::kNote;
  list->AddRectFilled({left, top}, {right, top + height - 1},
                      is_group ? theme.group : theme.header);
  float x = left + (6 + 12 * static_cast<float>(row.row.depth)) * layout.scale;
  const float y = top + (std::min(height, kGroupHeight * layout.scale) - line) / 2;
  if (row.row.can_open) {
    const float r = 3.5F * layout.scale;
    const ImVec2 c{x + r, y + line / 2};
    if (row.row.is_open) {
      list->AddTriangleFilled({c.x - r, c.y - r / 2}, {c.x + r, c.y - r / 2}, {c.x, c.y + r},
                              theme.dim_text);
    } else {
      list->AddTriangleFilled({c.x - r / 2, c.y - r}, {c.x + r, c.y}, {c.x - r / 2, c.y + r},
                              theme.dim_text);
    }
  }
  x += 12 * layout.scale;
  if (row.row.track != kNoTrack) {
    const Track& track = ranks[row.row.rank]->tracks[row.row.track];
    list->AddRectFilled({x, y + 2}, {x + 4 * layout.scale, y + line - 2},
                        ColorOf(ChipCategory(track)));
    x += 9 * layout.scale;
  }
  const std::string right_text = RightText(row, ranks, context.state.viewport().width_px);
  const float right_width = ImGui::CalcTextSize(right_text.c_str()).x;
  const std::string label =
      row.row.badge.empty() ? row.row.label : row.row.badge + "  " + row.row.label;
  list->PushClipRect({left, top}, {right - right_width - 10 * layout.scale, top + height}, true);
  const ImU32 color = row.row.kind == RowKind::kNote ? theme.dim_text : theme.text;
  list->AddText({x, y}, color, label.c_str());
  list->PopClipRect();
  list->AddText({right - right_width - 6 * layout.scale, y}, theme.dim_text, right_text.c_str());
  list->AddLine({left, top + height - 1}, {right, top + height - 1}, theme.line);
}

// A selected range's length above its middle.
void PaintRangeLength(DrawContext& context, const TimelineLayout& layout, float x0, float x1,
                      ImDrawList* list) {
  const TimeRange& range = *context.state.range();
  const std::string text = FormatNs(range.end_ns - range.begin_ns);
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  const float left =
      layout.RowsX() + std::clamp((x0 + x1 - size.x) / 2, 2.0F, layout.width - size.x);
  const float y = layout.RowsY() + 3;
  list->AddRectFilled({left - 4, y - 1}, {left + size.x + 4, y + size.y + 1}, context.theme->accent,
                      3);
  list->AddText({left, y}, TextOn(context.theme->accent), text.c_str());
}

void PaintWhisker(const TimelineLayout& layout, const WhiskerMark& mark, ImU32 color,
                  ImDrawList* list) {
  const float x0 = layout.RowsX() + mark.x0;
  const float x1 = layout.RowsX() + mark.x1;
  const float y = layout.RowsY() + mark.y * layout.scale;
  const float half = 6 * layout.scale;
  list->AddLine({x0, y}, {x1, y}, color, 1.5F);
  list->AddLine({x0, y - half}, {x0, y + half}, color, 1.5F);
  list->AddLine({x1, y - half}, {x1, y + half}, color, 1.5F);
}

}  // namespace

void PaintHeaders(DrawContext& context, const TimelineLayout& layout, ImDrawList* list) {
  const Scene& scene = context.state.scene();
  const ImVec2 from{layout.origin.x, layout.RowsY()};
  const ImVec2 to{layout.RowsX(), layout.RowsY() + layout.height};
  const float pinned = scene.pinned_height * layout.scale;
  list->AddRectFilled(from, to, context.theme->header);
  list->PushClipRect({from.x, from.y + pinned}, to, true);
  for (const SceneRow& row : scene.rows) PaintHeader(context, layout, row, list);
  list->PopClipRect();
  list->PushClipRect(from, {to.x, from.y + pinned}, true);
  for (const SceneRow& row : scene.pinned) PaintHeader(context, layout, row, list);
  list->PopClipRect();
  list->AddLine({to.x - 1, from.y}, {to.x - 1, to.y}, context.theme->line);
}

void PaintRuler(DrawContext& context, const TimelineLayout& layout, ImDrawList* list) {
  const Theme& theme = *context.theme;
  const Scene& scene = context.state.scene();
  const float top = layout.RulerY();
  const float bottom = top + layout.ruler_height;
  const float middle = top + layout.ruler_height / 2;
  list->AddRectFilled({layout.origin.x, top}, {layout.RowsX() + layout.width, bottom},
                      theme.header);
  const std::string span = FormatNs(scene.viewport.span_ns()) + " on screen";
  list->AddText({layout.origin.x + 8, top + 2}, theme.dim_text, span.c_str());
  list->PushClipRect({layout.RowsX(), top}, {layout.RowsX() + layout.width, bottom}, true);
  for (const Tick& tick : scene.ticks) {
    const float x = layout.RowsX() + tick.x;
    list->AddLine({x, top}, {x, middle}, theme.line);
    list->AddText({x + 4, top}, theme.dim_text, tick.label.c_str());
  }
  for (const StepLine& step : scene.steps) {
    const float x0 = layout.RowsX() + step.x0;
    const float x1 = layout.RowsX() + step.x1;
    const ImU32 color = step.step % 2 == 0 ? theme.group : WithAlpha(theme.dim_text, 0.25F);
    list->AddRectFilled({x0, middle + 1}, {x1, bottom - 1}, color);
    list->AddLine({x0, middle}, {x0, bottom}, theme.step_line);
    if (step.label.empty()) continue;
    const std::string label = x1 - x0 > 80 ? "step " + step.label : step.label;
    list->PushClipRect({x0, middle}, {x1, bottom}, true);
    list->AddText({std::max(x0, layout.RowsX()) + 4, middle}, theme.text, label.c_str());
    list->PopClipRect();
  }
  list->PopClipRect();
  list->AddLine({layout.origin.x, bottom - 1}, {layout.RowsX() + layout.width, bottom - 1},
                theme.line);
}

void PaintOverlays(DrawContext& context, const TimelineLayout& layout, ImDrawList* list) {
  State& state = context.state;
  const Theme& theme = *context.theme;
  const float top = layout.RowsY();
  const float bottom = top + layout.height;
  list->PushClipRect({layout.RowsX(), layout.RulerY()}, {layout.RowsX() + layout.width, bottom},
                     true);
  const auto x_of = [&](int64_t t) {
    return static_cast<float>(
        std::clamp(state.viewport().ToX(t), -4.0, state.viewport().width_px + 4.0));
  };
  if (state.range().has_value()) {
    const float x0 = x_of(state.range()->begin_ns);
    const float x1 = x_of(state.range()->end_ns);
    const float left = layout.RowsX() + x0;
    const float right = layout.RowsX() + std::max(x1, x0 + 1);
    list->AddRectFilled({left, top}, {right, bottom}, theme.range);
    list->AddLine({left, top}, {left, bottom}, theme.accent);
    list->AddLine({right, top}, {right, bottom}, theme.accent);
    if (x1 > 0 && x0 < layout.width) PaintRangeLength(context, layout, x0, x1, list);
  }
  for (const Mark& mark : state.marks) {
    const float x = layout.RowsX() + x_of(mark.time_ns);
    list->AddLine({x, top}, {x, bottom}, theme.alarm, 1.5F);
    list->AddTriangleFilled({x - 5, top - 8}, {x + 5, top - 8}, {x, top}, theme.alarm);
    if (mark.text.empty()) continue;
    const ImVec2 size = ImGui::CalcTextSize(mark.text.c_str());
    list->AddRectFilled({x + 1, top + 1}, {x + size.x + 9, top + size.y + 3},
                        WithAlpha(theme.header, 0.9F), 3);
    list->AddText({x + 5, top + 2}, theme.text, mark.text.c_str());
  }
  // Arrows from the selected event to what belongs to it, as far as both are on screen.
  if (state.selected().has_value()) {
    const auto place = [&](const EventRef& ref) -> std::optional<ImVec2> {
      const SceneRow* row = FindSceneRow(state.scene(), ref);
      const auto event = EventAt(state.ranks(), ref);
      if (row == nullptr || !event.has_value()) return std::nullopt;
      const float y = row->y + 1 + kLaneHeight * (static_cast<float>(ref.lane) + 0.5F);
      return ImVec2(layout.RowsX() + x_of(event->begin_ns), layout.RowsY() + y * layout.scale);
    };
    const auto from = place(*state.selected());
    for (const Link& link : state.links()) {
      const auto to = place(link.event);
      if (!from.has_value() || !to.has_value()) continue;
      const float bend = std::max(30.0F, std::abs(to->x - from->x) / 2);
      list->AddBezierCubic(*from, {from->x + bend, from->y}, {to->x - bend, to->y}, *to,
                           WithAlpha(theme.accent, 0.85F), 1.6F);
      list->AddCircleFilled(*to, 3.5F * layout.scale, theme.accent);
    }
  }
  for (const WhiskerMark& mark : state.scene().whiskers) {
    PaintWhisker(layout, mark, theme.text, list);
  }
  if (state.memory_place.has_value() && state.Shows(Panel::kMemory)) {
    const float x = layout.RowsX() + x_of(state.memory_place->time_ns);
    list->AddLine({x, top}, {x, bottom}, ColorOf(Category::kOptimizer), 1.5F);
  }
  if (context.pointer.is_over_rows) {
    const float x = layout.RowsX() + context.pointer.x;
    list->AddLine({x, top}, {x, bottom}, WithAlpha(theme.text, 0.35F));
  }
  list->PopClipRect();
}

}  // namespace tutti::viewer
