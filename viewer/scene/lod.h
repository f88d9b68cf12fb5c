// What of a lane, or of several, is to be drawn at a zoom: never more than about one mark a pixel,
// and every event in exactly one of them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "viewer/model/lane.h"
#include "viewer/model/series.h"
#include "viewer/scene/viewport.h"

namespace tutti::viewer {

// One event that is at least a pixel wide or alone in its pixel, or a run of shorter ones.
struct SpanMark {
  float x0 = 0;  // pixels from the left edge, cut a little outside of the screen
  float x1 = 0;
  uint32_t index = 0;                   // in the lane: the event, or the longest of the run
  int64_t count = 1;                    // events that it stands for
  Category category = Category::kHost;  // of the event; of a run, the one with most time
  NameId name = 0;                      // of the event or the longest
  float busy = 1;                       // share of its width that events fill
  bool is_open = false;
};

// Appends the marks of a lane's events that overlap the viewport, from left to right. Folds of
// neighbouring pixels that look the same are one mark. Where 64 and more events share a pixel, up
// to fifteen at its right edge count as its own though they begin in the next. O(pixels · log
// events).
void AppendMarks(const Lane& lane, const Viewport& viewport, std::vector<SpanMark>* marks);

// Shares of pixel columns [x0, x1) by category; stacked they are at most 1.
struct BandMark {
  int x0 = 0;
  int x1 = 0;
  std::array<float, kCategories> share = {};
};

// How busy several lanes are together, column by column; equal neighbours are one mark. Time of
// lanes that work at once counts once per lane; what is beyond the whole is cut. Ranges that the
// program names are no work, though they lie on streams: `without_ranges` leaves them out. Columns
// are `column_px` pixels wide: what sums up needs no finer ones, and half of them cost half.
std::vector<BandMark> BandOf(std::span<const Lane* const> lanes, const Viewport& viewport,
                             bool without_ranges = false, int column_px = 1);

// Least and largest value of a pixel column.
struct SeriesMark {
  int x = 0;
  double least = 0;
  double largest = 0;
};
std::vector<SeriesMark> EnvelopeOf(const Series& series, const Viewport& viewport);

}  // namespace tutti::viewer
