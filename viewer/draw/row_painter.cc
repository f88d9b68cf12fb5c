#include "viewer/draw/row_painter.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "viewer/scene/format.h"
#include "viewer/scene/skyline.h"

namespace tutti::viewer {
namespace {

constexpr float kNarrowestLabel = 22;  // pixels; narrower marks have none
constexpr float kDimmed = 0.22F;       // opacity of what the search does not match

ImFont* Font() { return ImGui::GetFont(); }

// The text from its begin, as far as it fits; nothing if not even a few letters do.
void PaintText(ImDrawList* list, ImVec2 at, float width, ImU32 color, std::string_view text) {
  const float size = ImGui::GetFontSize();
  const char* end = text.data() + text.size();
  const char* rest = nullptr;
  const ImVec2 whole = Font()->CalcTextSizeA(size, width, 0, text.data(), end, &rest);
  if (rest != end && whole.x < size) return;
  list->AddText(at, color, text.data(), rest != nullptr ? rest : end);
}

class RowPainter {
 public:
  RowPainter(DrawContext& context, const TimelineLayout& layout, const Hit& hovered,
             ImDrawList* list)
      : context_(context), theme_(*context.theme), layout_(layout), list_(list), hovered_(hovered) {
    if (hovered.mark != nullptr)
      hovered_name_ = hovered.mark->name;
    else if (const auto event = context.state.selected_event())
      hovered_name_ = event->name;
  }

  void Paint(const SceneRow& row) {
    const float top = Y(row.y);
    const float height = row.row.height * layout_.scale;
    const bool is_group =
        row.row.lanes_shown == 0 && row.row.depth < 2 && row.row.track == kNoTrack;
    const ImU32 back = is_group                ? theme_.group
                       : row.row.rank % 2 == 1 ? theme_.row_other
                                               : theme_.row;
    FillRect({layout_.RowsX(), top}, {layout_.RowsX() + layout_.width, top + height}, back);
    PaintBand(row, top, height);
    PaintEnvelope(row, top, height);
    PaintDeltas(row, top, height);
    for (size_t i = 0; i < row.lanes.size(); ++i) {
      PaintLane(row, static_cast<uint32_t>(i),
                top + (1 + kLaneHeight * static_cast<float>(i)) * layout_.scale);
    }
    list_->AddLine({layout_.origin.x, top + height - 1},
                   {layout_.RowsX() + layout_.width, top + height - 1}, theme_.line);
  }

 private:
  // Four vertices and no soft edges, which are four more and a seam between neighbours.
  void FillRect(ImVec2 from, ImVec2 to, ImU32 color) {
    list_->PrimReserve(6, 4);
    list_->PrimRect(from, to, color);
  }

  float X(float x) const { return layout_.RowsX() + x; }
  float Y(float y) const { return layout_.RowsY() + y * layout_.scale; }

  // The parts of a column stand on one another. Each category is painted as high as it and those
  // below it are, and then those below it over it.
  void PaintBand(const SceneRow& row, float top, float height) {
    const float base = top + height - 3;
    const float full = height - 6;
    for (size_t i = kCategories; i-- > 0;) {
      for (const BandMark& mark : row.band) {
        if (mark.share[i] == 0) continue;
        const float sum = std::accumulate(&mark.share[0], &mark.share[i] + 1, 0.0F);
        skyline_.Add(X(static_cast<float>(mark.x0)), X(static_cast<float>(mark.x1)), sum * full);
      }
      PaintSkyline(base, ColorOf(static_cast<Category>(i)));
    }
  }

  void PaintSkyline(float base, ImU32 color) {
    for (const SkylineBox& box : skyline_.Take()) {
      FillRect({box.x0, base - box.high}, {box.x1, base - box.low}, color);
    }
  }

  void PaintEnvelope(const SceneRow& row, float top, float height) {
    if (row.envelope.empty()) return;
    const double low = std::min(0.0, row.extent.least);
    const double span = std::max(row.extent.largest - low, 1e-12);
    const float base = top + height - 3;
    const auto y_of = [&](double value) {
      return base - static_cast<float>((value - low) / span) * (height - 16);
    };
    const ImU32 line = ColorOf(row.unit == "bytes" ? Category::kOptimizer : Category::kCopy);
    for (size_t i = 0; i < row.envelope.size(); ++i) {
      // Equal neighbours as one rectangle.
      size_t last = i;
      while (last + 1 < row.envelope.size() &&
             row.envelope[last + 1].x == row.envelope[last].x + 1 &&
             row.envelope[last + 1].least == row.envelope[i].least &&
             row.envelope[last + 1].largest == row.envelope[i].largest) {
        ++last;
      }
      const float x0 = X(static_cast<float>(row.envelope[i].x));
      const float x1 = X(static_cast<float>(row.envelope[last].x + 1));
      const float y0 = y_of(row.envelope[i].largest);
      const float y1 = y_of(row.envelope[i].least);
      skyline_.Add(x0, x1, base - y0);
      FillRect({x0, y0}, {x1, std::max(y1, y0 + 1.5F)}, line);
      i = last;
    }
    PaintSkyline(base, WithAlpha(line, 0.28F));
    const std::string most = FormatValue(row.extent.largest, row.unit);
    list_->AddText({X(4), top + 1}, theme_.dim_text, most.c_str());
  }

  // Up and orange: run B is slower; down and blue: it is faster. Full height is a quarter of A's
  // step.
  void PaintDeltas(const SceneRow& row, float top, float height) {
    if (row.row.kind != RowKind::kDelta) return;
    const float middle = top + height / 2;
    list_->AddLine({layout_.RowsX(), middle}, {layout_.RowsX() + layout_.width, middle},
                   theme_.line);
    for (const DeltaMark& mark : row.deltas) {
      const int64_t delta_ns = mark.b_ns - mark.a_ns;
      const double share =
          static_cast<double>(delta_ns) / static_cast<double>(std::max<int64_t>(1, mark.a_ns));
      const float tall = static_cast<float>(std::clamp(share * 4, -1.0, 1.0)) * (height / 2 - 2);
      const float x0 = X(mark.x0);
      const float x1 = X(mark.x1 - mark.x0 > 3 ? mark.x1 - 1 : mark.x1);
      const ImU32 color = DeltaColor(share);
      FillRect({x0, std::min(middle, middle - tall)}, {x1, std::max(middle, middle - tall) + 1},
               color);
      const std::string label =
          (delta_ns > 0 ? "+" : "") + FormatNs(delta_ns) + "  " + FormatShare(share);
      const float left = std::max(x0, layout_.RowsX()) + 4;
      if (ImGui::CalcTextSize(label.c_str()).x < x1 - left - 2) {
        // Beside the bar, not on it.
        const float y = delta_ns > 0 ? middle - 1 : top;
        list_->AddText({left, y}, theme_.text, label.c_str());
      }
    }
  }

  bool IsDimmed(NameId name) const {
    const SearchState& search = context_.state.search();
    return !search.text.empty() && search.error.empty() && !search.result.names.contains(name);
  }

  void PaintLane(const SceneRow& row, uint32_t lane, float top) {
    const float bottom = top + (kLaneHeight - 1) * layout_.scale;
    const std::span<const SpanMark> marks = row.lanes[lane];
    for (size_t i = 0; i < marks.size(); ++i) {
      if (marks[i].count > 1) {
        const size_t folds = FoldsLike(marks.subspan(i));
        PaintFolds(marks.subspan(i, folds), top, bottom);
        i += folds - 1;
        continue;
      }
      PaintEvent({row.row.rank, row.row.track, lane, marks[i].index}, marks[i], top, bottom);
    }
  }

  void PaintEvent(const EventRef& ref, const SpanMark& mark, float top, float bottom) {
    const std::string_view name = context_.state.session().names().Text(mark.name);
    ImU32 color = ColorOf(mark.category, name);
    if (IsDimmed(mark.name)) color = WithAlpha(color, kDimmed);
    const float x0 = X(mark.x0);
    // A gap of a pixel keeps neighbours apart.
    const float x1 = X(mark.x1 - mark.x0 > 3 ? mark.x1 - 1 : mark.x1);
    FillRect({x0, top}, {x1, bottom}, color);
    if (mark.category == Category::kCommunication) PaintWait(ref, top, bottom);
    if (mark.category == Category::kWait && x1 - x0 > 6) Hatch(x0, x1, top, bottom);
    if (mark.is_open) PaintOpenEnd(x1, top, bottom);
    PaintOutline(ref, mark, {x0, top}, {x1, bottom});
    PaintLabel(mark, name, x0, x1, top, color);
  }

  // A fold is of many names, so it has its category's colour in no shade of its own.
  ImU32 FoldColor(const SpanMark& fold) const {
    const ImU32 color = ColorOf(fold.category);
    return IsDimmed(fold.name) ? WithAlpha(color, kDimmed) : color;
  }

  // How many folds, from the first mark on, touch one another and have one colour.
  size_t FoldsLike(std::span<const SpanMark> marks) const {
    const ImU32 color = FoldColor(marks.front());
    size_t count = 1;
    while (count < marks.size() && marks[count].count > 1 &&
           marks[count].x0 == marks[count - 1].x1 && FoldColor(marks[count]) == color) {
      ++count;
    }
    return count;
  }

  // Filled as high as they are busy, before a pale ground.
  void PaintFolds(std::span<const SpanMark> folds, float top, float bottom) {
    const ImU32 color = FoldColor(folds.front());
    const bool is_full = std::all_of(folds.begin(), folds.end(),
                                     [](const SpanMark& fold) { return fold.busy == 1; });
    if (!is_full) {
      FillRect({X(folds.front().x0), top}, {X(folds.back().x1), bottom}, WithAlpha(color, 0.30F));
    }
    for (const SpanMark& fold : folds) {
      skyline_.Add(X(fold.x0), X(fold.x1), std::max(2.0F, (bottom - top) * fold.busy));
    }
    PaintSkyline(bottom, color);
    for (const SpanMark& fold : folds) {
      const float x0 = X(fold.x0);
      const float x1 = X(fold.x1);
      if (x1 - x0 < 46) continue;
      const std::string label = "×" + FormatCount(fold.count);
      PaintText(list_, {x0 + 3, top + 1}, x1 - x0 - 6, TextOn(color), label);
    }
  }

  // The part of a collective in which the rank waits for others, hatched.
  void PaintWait(const EventRef& ref, float top, float bottom) {
    const auto event = EventAt(context_.state.ranks(), ref);
    if (!event.has_value() || event->source != Source::kCollective) return;
    const RunSummary& summary = context_.state.summary();
    const auto* call = summary.FindCall(summary.ranks[ref.rank].rank, event->row_id);
    if (call == nullptr || call->wait_ns.value_or(0) <= 0) return;
    const Viewport& viewport = context_.state.viewport();
    const auto clip = [&](int64_t t) {
      return X(static_cast<float>(std::clamp(viewport.ToX(t), -16.0, viewport.width_px + 16.0)));
    };
    const float x0 = clip(event->begin_ns);
    const float x1 = clip(event->begin_ns + *call->wait_ns);
    if (x1 - x0 < 2) return;
    FillRect({x0, top}, {x1, bottom}, IM_COL32(255, 255, 255, 95));
    Hatch(x0, x1, top, bottom);
  }

  void Hatch(float x0, float x1, float top, float bottom) {
    const float height = bottom - top;
    const float left = std::max(x0, layout_.RowsX() - 8);
    const float right = std::min(x1, layout_.RowsX() + layout_.width + 8);
    list_->PushClipRect({x0, top}, {x1, bottom}, true);
    for (float x = left - std::fmod(left - x0, 6.0F) - height; x < right; x += 6) {
      list_->AddLine({x, bottom}, {x + height, top}, IM_COL32(0, 0, 0, 80));
    }
    list_->PopClipRect();
  }

  void PaintOpenEnd(float x1, float top, float bottom) {
    for (float y = top; y < bottom; y += 6) {
      list_->AddTriangleFilled({x1, y}, {x1 + 5, y + 3}, {x1, y + 6}, theme_.alarm);
    }
  }

  void PaintOutline(const EventRef& ref, const SpanMark& mark, ImVec2 from, ImVec2 to) {
    if (context_.state.selected() == ref) {
      list_->AddRect({from.x - 1, from.y - 1}, {to.x + 1, to.y + 1}, theme_.accent, 0, 2.5F);
    } else if (hovered_.mark == &mark) {
      list_->AddRect(from, to, theme_.text, 0, 1.5F);
    } else if (mark.name == hovered_name_ && to.x - from.x > 2) {
      list_->AddRect(from, to, WithAlpha(theme_.text, 0.55F));
    }
  }

  void PaintLabel(const SpanMark& mark, std::string_view name, float x0, float x1, float top,
                  ImU32 color) {
    // Sticks to the left edge of the screen.
    const float from = std::max(x0, layout_.RowsX()) + 4;
    const float to = std::min(x1, layout_.RowsX() + layout_.width) - 2;
    if (to - from < kNarrowestLabel * layout_.scale) return;
    const bool is_dimmed = IsDimmed(mark.name);
    std::string label = ShortName(name);
    // Of a step that is too narrow for all of it, its number.
    if (label.starts_with("step ") && ImGui::CalcTextSize(label.c_str()).x > to - from) {
      label.erase(0, 5);
    }
    PaintText(list_, {from, top + 1}, to - from, is_dimmed ? theme_.dim_text : TextOn(color),
              label);
  }

  DrawContext& context_;
  const Theme& theme_;
  const TimelineLayout& layout_;
  ImDrawList* list_;
  Hit hovered_;
  std::optional<NameId> hovered_name_;
  Skyline skyline_;
};

}  // namespace

void PaintSceneRows(DrawContext& context, const TimelineLayout& layout, const Hit& hovered,
                    std::span<const SceneRow> rows, ImDrawList* list) {
  RowPainter painter(context, layout, hovered, list);
  for (const SceneRow& row : rows) painter.Paint(row);
}

}  // namespace tutti::viewer
