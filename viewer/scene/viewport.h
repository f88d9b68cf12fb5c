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
  int64_t ColumnBegin(int column) const;
  int ColumnOf(int64_t time_ns) const;  // the last that does not begin later

  // The same width over [begin_ns, end_ns), kept at least kShortestNs long.
  Viewport Over(int64_t begin, int64_t end) const;
  // Zooms by `factor` (< 1: in) so that the time at `x` stays there.
  Viewport ZoomedAt(double x, double factor) const;
  Viewport PannedBy(double pixels) const;
  // Moved and shortened so that not more than a tenth of it lies outside of [begin, end).
  Viewport KeptInside(int64_t begin, int64_t end) const;

  friend bool operator==(const Viewport&, const Viewport&) = default;
};

}  // namespace tutti::viewer
