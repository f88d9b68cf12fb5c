// The stretch of time that is on screen, and where a moment lies in it. Times stay integers until
// the begin has been subtracted, so an hour away from zero a nanosecond is still a place of its
// own. Value type.
#pragma once

#include <cstdint>

namespace tutti::viewer {

struct Viewport {
  int64_t begin_ns = 0;
  int64_t end_ns = 1;  // > begin_ns
  int width_px = 1;    // >= 1

  static constexpr int64_t kShortestNs = 20;

  int64_t span_ns() const { return end_ns - begin_ns; }
  double ns_per_px() const { return static_cast<double>(span_ns()) / width_px; }
  double ToX(int64_t time_ns) const {
    return static_cast<double>(time_ns - begin_ns) / ns_per_px();
  }
  int64_t ToTime(double x) const;
  // Begin of a pixel column; exact, so that columns have no gap between them.
  int64_t ColumnBegin(int column) const {
    // Asked for each pixel of each lane: a division of 64 bits where the product fits.
    if (span_ns() < kLongestNs && column >= 0 && column <= kMostColumns) {
      return begin_ns + span_ns() * column / width_px;
    }
    return LongColumnBegin(column);
  }
  // The last that does not begin later: ColumnBegin rounds down.
  int ColumnOf(int64_t time_ns) const {
    const int64_t since_ns = time_ns - begin_ns;
    if (since_ns >= 0 && since_ns < kLongestNs && width_px <= kMostColumns) {
      return static_cast<int>(((since_ns + 1) * width_px - 1) / span_ns());
    }
    return LongColumnOf(time_ns);
  }

  // The same width over [begin_ns, end_ns), kept at least kShortestNs long.
  Viewport Over(int64_t begin, int64_t end) const;
  // Zooms by `factor` (< 1: in) so that the time at `x` stays there.
  Viewport ZoomedAt(double x, double factor) const;
  Viewport PannedBy(double pixels) const;
  // Moved and shortened so that not more than a tenth of it lies outside of [begin, end).
  Viewport KeptInside(int64_t begin, int64_t end) const;

  friend bool operator==(const Viewport&, const Viewport&) = default;

 private:
  // Products of a time and a column below both fit into 63 bits.
  static constexpr int64_t kLongestNs = int64_t{1} << 46;  // 19 hours
  static constexpr int kMostColumns = 1 << 16;
  int64_t LongColumnBegin(int column) const;
  int LongColumnOf(int64_t time_ns) const;
};

// On the way from one to another, `share` of it done: quick at first, and so that a time which is
// at the same place in both stays there. Keeps the width of `to`.
Viewport GlideAt(const Viewport& from, const Viewport& to, double share);

}  // namespace tutti::viewer
