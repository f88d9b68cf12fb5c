#include "viewer/scene/lod.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tutti::viewer {
namespace {

constexpr float kOutside = 16;   // marks are cut so far outside of the screen
constexpr int kShades = 8;       // a fold is drawn in one of so many shades
constexpr uint32_t kDense = 64;  // so many events of a pixel are taken in whole nodes

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

// Up, to a shade.
float Rounded(double share) {
  const double shades = std::min(1.0, share) * kShades;
  const int whole = static_cast<int>(shades);
  return static_cast<float>(whole < shades ? whole + 1 : whole) / kShades;
}

// Without its name, which lies where no other column's does: AppendMarks looks up all at last.
SpanMark FoldMark(const Lane& lane, const LaneSummary& summary, int column, double ns_per_px) {
  int64_t busy_ns = 0;
  Category most = lane.categories().front();
  const auto ns_in = [&](Category category) {
    return summary.busy_ns[static_cast<size_t>(category)];
  };
  for (const Category category : lane.categories()) {
    busy_ns += ns_in(category);
    if (ns_in(category) > ns_in(most) || (ns_in(category) == ns_in(most) && category < most)) {
      most = category;
    }
  }
  SpanMark mark;
  mark.x0 = static_cast<float>(column);
  mark.x1 = static_cast<float>(column + 1);
  mark.index = summary.longest;
  mark.count = summary.count;
  mark.category = most;
  mark.busy = Rounded(static_cast<double>(busy_ns) / ns_per_px);
  return mark;
}

// Folds are named after their longest event.
void NameFolds(const Lane& lane, std::span<SpanMark> marks) {
  for (SpanMark& mark : marks) {
    if (mark.count == 1) continue;
    const LaneName& entry = lane.name(mark.index);
    mark.name = entry.name;
    if (mark.busy == 0) mark.category = entry.category;  // of moments
  }
}

bool CanJoin(const SpanMark& left, const SpanMark& right) {
  return left.count > 1 && right.count > 1 && left.x1 == right.x0 &&
         left.category == right.category && left.busy == right.busy;
}

// The events from `index` on of a column that ends at `end_ns`.
struct Fold {
  uint32_t last = 0;  // behind them
  LaneSummary summary;
};

// Where a column has many events and none as long as `wide_ns`, they are taken in whole nodes, with
// up to fifteen that begin in the next column: looking for its end costs more than all else.
std::optional<Fold> DenseFold(const Lane& lane, uint32_t index, int64_t end_ns, int64_t next_end_ns,
                              int64_t wide_ns) {
  const uint32_t node = lane.FirstNodeBeginningAt(end_ns, index / kFan + 1);
  const uint32_t last = std::min(lane.size(), node * kFan);
  if (last < index + kDense || node >= lane.nodes()) return std::nullopt;
  if (lane.ColumnBeginNs(last) >= next_end_ns) return std::nullopt;  // they are far apart
  Fold fold{last, lane.Summarize(index, last)};
  if (fold.summary.longest_ns >= wide_ns) return std::nullopt;
  return fold;
}

// Adds the time that a lane spends in each column.
void AddColumns(const Lane& lane, const Viewport& viewport, std::vector<CategoryNs>* busy) {
  uint32_t index = lane.FirstEndingAfter(viewport.begin_ns);
  for (int column = 0; column < viewport.width_px && index < lane.size(); ++column) {
    const int64_t begin = viewport.ColumnBegin(column);
    const int64_t end = viewport.ColumnBegin(column + 1);
    const int64_t next = lane.ColumnBeginNs(index);
    if (next >= end) {  // nothing until the column of the next event
      if (next >= viewport.end_ns) return;
      column = viewport.ColumnOf(next) - 1;
      continue;
    }
    CategoryNs& sum = (*busy)[static_cast<size_t>(column)];
    // Of an event that reaches over the column's end the whole counts here: it has to be short.
    if (const auto fold =
            DenseFold(lane, index, end, viewport.ColumnBegin(column + 2), (end - begin) / 8)) {
      for (size_t i = 0; i < kCategories; ++i) sum[i] += fold->summary.busy_ns[i];
      // The first may have begun in the column before.
      if (next < begin) sum[static_cast<size_t>(lane.name(index).category)] -= begin - next;
      index = fold->last;
      continue;
    }
    const uint32_t last = lane.FirstBeginningAt(end, index);
    const auto add_clipped = [&](uint32_t i) {
      const int64_t inside = std::min(end, lane.end_ns(i)) - std::max(begin, lane.begin_ns(i));
      sum[static_cast<size_t>(lane.name(i).category)] += std::max<int64_t>(0, inside);
    };
    lane.WillRead(last + (last - index));  // of the next column, which is likely to have as many
    add_clipped(index);
    if (last - index > 1) {
      lane.AddDurations(index + 1, last - 1, &sum);
      add_clipped(last - 1);
    }
    index = lane.end_ns(last - 1) > end ? last - 1 : last;
  }
}

// Sixteenths of a column by category, five bits each: finer ones can't be told apart in a band.
uint64_t SharesOf(const CategoryNs& busy, double sixteenths_per_ns) {
  uint64_t shares = 0;
  int left = 16;
  for (size_t i = 0; i < kCategories; ++i) {
    if (busy[i] == 0) continue;
    const double wanted = std::min(16.0, static_cast<double>(busy[i]) * sixteenths_per_ns + 0.5);
    const int share = std::clamp(static_cast<int>(wanted), 1, std::max(1, left));
    shares |= static_cast<uint64_t>(share) << (5 * i);
    left -= share;
  }
  return shares;
}

BandMark MarkOf(int column, uint64_t shares) {
  BandMark mark{column, column + 1, {}};
  for (size_t i = 0; i < kCategories; ++i) {
    mark.share[i] = static_cast<float>((shares >> (5 * i)) & 31) / 16;
  }
  return mark;
}

std::vector<BandMark> BandOfColumns(std::span<const Lane* const> lanes, const Viewport& viewport,
                                    bool without_ranges) {
  std::vector<CategoryNs> busy(static_cast<size_t>(viewport.width_px));
  for (const Lane* lane : lanes) AddColumns(*lane, viewport, &busy);
  std::vector<BandMark> marks;
  const double sixteenths_per_ns = 16 / viewport.ns_per_px();
  uint64_t last = 0;  // shares of the column before
  for (int column = 0; column < viewport.width_px; ++column) {
    CategoryNs& sum = busy[static_cast<size_t>(column)];
    if (without_ranges) sum[static_cast<size_t>(Category::kStep)] = 0;
    const uint64_t shares = SharesOf(sum, sixteenths_per_ns);
    if (shares != 0 && shares == last) {
      marks.back().x1 = column + 1;
    } else if (shares != 0) {
      marks.push_back(MarkOf(column, shares));
    }
    last = shares;
  }
  return marks;
}

}  // namespace

void AppendMarks(const Lane& lane, const Viewport& viewport, std::vector<SpanMark>* marks) {
  const double ns_per_px = viewport.ns_per_px();
  const auto wide_ns = static_cast<int64_t>(std::ceil(ns_per_px));
  const size_t first_mark = marks->size();
  int64_t longest_ns = 0;  // of the last mark, if that is a fold
  const auto append_fold = [&](const LaneSummary& summary, int column) {
    const SpanMark mark = FoldMark(lane, summary, column, ns_per_px);
    if (marks->size() == first_mark || !CanJoin(marks->back(), mark)) {
      longest_ns = summary.longest_ns;
      return marks->push_back(mark);
    }
    SpanMark& left = marks->back();
    left.x1 = mark.x1;
    left.count += mark.count;
    if (summary.longest_ns > longest_ns) {
      longest_ns = summary.longest_ns;
      left.index = mark.index;
    }
  };
  uint32_t index = lane.FirstEndingAfter(viewport.begin_ns);
  while (index < lane.size()) {
    const int64_t begin = lane.ColumnBeginNs(index);
    if (begin >= viewport.end_ns) break;
    const int column = viewport.ColumnOf(begin);
    const int64_t column_end = viewport.ColumnBegin(column + 1);
    if (begin >= viewport.begin_ns && column_end < viewport.end_ns) {
      if (const auto fold = DenseFold(lane, index, column_end, column_end + wide_ns, wide_ns)) {
        append_fold(fold->summary, column);
        index = fold->last;
        continue;
      }
    }
    if (lane.duration_ns(index) >= wide_ns || begin < viewport.begin_ns) {
      marks->push_back(SingleMark(lane, index++, viewport));
      continue;
    }
    // Of the events that begin in this column only the last can be wide.
    uint32_t last = lane.FirstBeginningAt(std::min(column_end, viewport.end_ns), index + 1);
    if (last - index > 1 && lane.duration_ns(last - 1) >= wide_ns) --last;
    lane.WillRead(last + (last - index));  // of the next column, which is likely to have as many
    if (last - index == 1) {
      marks->push_back(SingleMark(lane, index, viewport));
    } else {
      append_fold(lane.Summarize(index, last), column);
    }
    index = last;
  }
  NameFolds(lane, std::span(*marks).subspan(first_mark));
}

std::vector<BandMark> BandOf(std::span<const Lane* const> lanes, const Viewport& viewport,
                             bool without_ranges, int column_px) {
  // Several columns a nanosecond tell no more than one.
  const int64_t columns =
      std::min<int64_t>(viewport.span_ns(), std::max(1, viewport.width_px / column_px));
  const Viewport coarse{viewport.begin_ns, viewport.end_ns, static_cast<int>(columns)};
  std::vector<BandMark> marks = BandOfColumns(lanes, coarse, without_ranges);
  if (coarse.width_px == viewport.width_px) return marks;
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
