#include "viewer/scene/lod.h"

#include <algorithm>
#include <cmath>

namespace tutti::viewer {
namespace {

constexpr float kOutside = 16;  // marks are cut so far outside of the screen
constexpr int kShades = 8;      // a fold is drawn in one of so many shades

float ClippedX(const Viewport& viewport, int64_t time_ns) {
  return static_cast<float>(std::clamp(viewport.ToX(time_ns), -double{kOutside},
                                       static_cast<double>(viewport.width_px) + kOutside));
}

SpanMark SingleMark(const Lane& lane, uint32_t index, const Viewport& viewport) {
  const LaneName& name = lane.name(index);
  SpanMark mark;
  mark.x0 = ClippedX(viewport, lane.begin_ns(index));
  mark.x1 = std::max(ClippedX(viewport, lane.end_ns(index)), mark.x0 + 1);
  mark.index = index;
  mark.category = name.category;
  mark.name = name.name;
  mark.is_open = name.is_open;
  return mark;
}

float Rounded(double share) {
  return static_cast<float>(std::ceil(std::min(1.0, share) * kShades) / kShades);
}

SpanMark FoldMark(const Lane& lane, uint32_t first, uint32_t last, int column,
                  const Viewport& viewport) {
  const LaneSummary summary = lane.Summarize(first, last);
  int64_t busy_ns = 0;
  size_t most = static_cast<size_t>(lane.name(summary.longest).category);
  for (size_t i = 0; i < kCategories; ++i) {
    busy_ns += summary.busy_ns[i];
    if (summary.busy_ns[i] > summary.busy_ns[most]) most = i;
  }
  SpanMark mark;
  mark.x0 = static_cast<float>(column);
  mark.x1 = static_cast<float>(column + 1);
  mark.index = summary.longest;
  mark.count = summary.count;
  mark.category = static_cast<Category>(most);
  mark.name = lane.name(summary.longest).name;
  mark.busy = Rounded(static_cast<double>(busy_ns) / viewport.ns_per_px());
  return mark;
}

bool CanJoin(const SpanMark& left, const SpanMark& right) {
  return left.count > 1 && right.count > 1 && left.x1 == right.x0 &&
         left.category == right.category && left.busy == right.busy;
}

bool LooksSame(const BandMark& left, const BandMark& right) {
  return left.x1 == right.x0 && left.share == right.share;
}

// Adds the time that a lane spends in each column.
void AddColumns(const Lane& lane, const Viewport& viewport, std::vector<CategoryNs>* busy) {
  uint32_t index = lane.FirstEndingAfter(viewport.begin_ns);
  for (int column = 0; column < viewport.width_px && index < lane.size(); ++column) {
    const int64_t begin = viewport.ColumnBegin(column);
    const int64_t end = viewport.ColumnBegin(column + 1);
    const int64_t next = lane.begin_ns(index);
    if (next >= end) {  // nothing until the column of the next event
      if (next >= viewport.end_ns) return;
      column = viewport.ColumnOf(next) - 1;
      continue;
    }
    CategoryNs& sum = (*busy)[static_cast<size_t>(column)];
    const uint32_t last = lane.FirstBeginningAt(end, index);
    const auto add_clipped = [&](uint32_t i) {
      const int64_t inside = std::min(end, lane.end_ns(i)) - std::max(begin, lane.begin_ns(i));
      sum[static_cast<size_t>(lane.name(i).category)] += std::max<int64_t>(0, inside);
    };
    add_clipped(index);
    if (last - index > 1) {
      lane.AddDurations(index + 1, last - 1, &sum);
      add_clipped(last - 1);
    }
    index = lane.end_ns(last - 1) > end ? last - 1 : last;
  }
}

// Shares of a column, in sixteenths: finer ones can't be told apart in a band.
BandMark MarkOf(int column, const CategoryNs& busy, double column_ns) {
  BandMark mark{column, column + 1, {}};
  int left = 16;
  for (size_t i = 0; i < kCategories; ++i) {
    if (busy[i] == 0) continue;
    const auto wanted =
        static_cast<int>(std::lround(16 * static_cast<double>(busy[i]) / column_ns));
    const int share = std::clamp(wanted, 1, std::max(1, left));
    mark.share[i] = static_cast<float>(share) / 16;
    left -= share;
  }
  return mark;
}

std::vector<BandMark> BandOfColumns(std::span<const Lane* const> lanes, const Viewport& viewport) {
  std::vector<CategoryNs> busy(static_cast<size_t>(viewport.width_px));
  for (const Lane* lane : lanes) AddColumns(*lane, viewport, &busy);
  std::vector<BandMark> marks;
  for (int column = 0; column < viewport.width_px; ++column) {
    const CategoryNs& sum = busy[static_cast<size_t>(column)];
    if (sum == CategoryNs{}) continue;
    const BandMark mark = MarkOf(column, sum, viewport.ns_per_px());
    if (!marks.empty() && LooksSame(marks.back(), mark)) {
      marks.back().x1 = mark.x1;
    } else {
      marks.push_back(mark);
    }
  }
  return marks;
}

}  // namespace

void AppendMarks(const Lane& lane, const Viewport& viewport, std::vector<SpanMark>* marks) {
  const auto wide_ns = static_cast<int64_t>(std::ceil(viewport.ns_per_px()));
  const size_t first_mark = marks->size();
  uint32_t index = lane.FirstEndingAfter(viewport.begin_ns);
  while (index < lane.size() && lane.begin_ns(index) < viewport.end_ns) {
    const int64_t begin = lane.begin_ns(index);
    if (lane.duration_ns(index) >= wide_ns || begin < viewport.begin_ns) {
      marks->push_back(SingleMark(lane, index++, viewport));
      continue;
    }
    const int column = viewport.ColumnOf(begin);
    // Of the events that begin in this column only the last can be wide.
    const int64_t column_end = std::min(viewport.ColumnBegin(column + 1), viewport.end_ns);
    uint32_t last = lane.FirstBeginningAt(column_end, index + 1);
    if (last - index > 1 && lane.duration_ns(last - 1) >= wide_ns) --last;
    SpanMark mark = last - index == 1 ? SingleMark(lane, index, viewport)
                                      : FoldMark(lane, index, last, column, viewport);
    index = last;
    if (marks->size() > first_mark && CanJoin(marks->back(), mark)) {
      SpanMark& left = marks->back();
      left.x1 = mark.x1;
      left.count += mark.count;
      if (lane.duration_ns(mark.index) > lane.duration_ns(left.index)) {
        left.index = mark.index;
        left.name = mark.name;
      }
    } else {
      marks->push_back(mark);
    }
  }
}

std::vector<BandMark> BandOf(std::span<const Lane* const> lanes, const Viewport& viewport) {
  if (viewport.span_ns() >= viewport.width_px) return BandOfColumns(lanes, viewport);
  // Several columns a nanosecond: one a nanosecond tells as much.
  const Viewport coarse{viewport.begin_ns, viewport.end_ns, static_cast<int>(viewport.span_ns())};
  std::vector<BandMark> marks = BandOfColumns(lanes, coarse);
  const double widths = static_cast<double>(viewport.width_px) / coarse.width_px;
  for (BandMark& mark : marks) {
    mark.x0 = static_cast<int>(std::round(mark.x0 * widths));
    mark.x1 = static_cast<int>(std::round(mark.x1 * widths));
  }
  return marks;
}

std::vector<SeriesMark> EnvelopeOf(const Series& series, const Viewport& viewport) {
  std::vector<SeriesMark> marks;
  for (int column = 0; column < viewport.width_px; ++column) {
    const Extent extent =
        series.Holding(viewport.ColumnBegin(column), viewport.ColumnBegin(column + 1));
    if (!extent.is_empty) marks.push_back({column, extent.least, extent.largest});
  }
  return marks;
}

}  // namespace tutti::viewer
