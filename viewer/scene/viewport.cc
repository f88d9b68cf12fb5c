#include "viewer/scene/viewport.h"

#include <algorithm>
#include <cmath>

namespace tutti::viewer {
namespace {

// Products of a time and a column below both fit into 63 bits.
constexpr int64_t kLongestNs = int64_t{1} << 46;  // 19 hours
constexpr int kMostColumns = 1 << 16;

}  // namespace

int64_t Viewport::ToTime(double x) const {
  return begin_ns + static_cast<int64_t>(std::llround(x * ns_per_px()));
}

int64_t Viewport::ColumnBegin(int column) const {
  // Asked for each pixel of each lane: a division of 64 bits where the product fits.
  if (span_ns() < kLongestNs && column >= 0 && column <= kMostColumns) {
    return begin_ns + span_ns() * column / width_px;
  }
  return begin_ns + static_cast<int64_t>(static_cast<__int128>(span_ns()) * column / width_px);
}

int Viewport::ColumnOf(int64_t time_ns) const {
  // The last column that does not begin later: ColumnBegin rounds down.
  const int64_t since_ns = time_ns - begin_ns;
  if (since_ns >= 0 && since_ns < kLongestNs && width_px <= kMostColumns) {
    return static_cast<int>(((since_ns + 1) * width_px - 1) / span_ns());
  }
  const auto beyond = (static_cast<__int128>(since_ns) + 1) * width_px - 1;
  const auto column = beyond / span_ns();
  return static_cast<int>(beyond < 0 ? column - 1 : column);
}

Viewport Viewport::Over(int64_t begin, int64_t end) const {
  if (end - begin < kShortestNs) {
    begin -= (kShortestNs - (end - begin)) / 2;
    end = begin + kShortestNs;
  }
  return {begin, end, width_px};
}

Viewport Viewport::ZoomedAt(double x, double factor) const {
  const int64_t anchor = ToTime(x);
  const double share = std::clamp(x / width_px, 0.0, 1.0);
  const auto span = static_cast<int64_t>(
      std::max(static_cast<double>(kShortestNs), static_cast<double>(span_ns()) * factor));
  const auto before = static_cast<int64_t>(static_cast<double>(span) * share);
  return {anchor - before, anchor - before + span, width_px};
}

Viewport Viewport::PannedBy(double pixels) const {
  const auto shift = static_cast<int64_t>(std::llround(pixels * ns_per_px()));
  return {begin_ns + shift, end_ns + shift, width_px};
}

Viewport Viewport::KeptInside(int64_t begin, int64_t end) const {
  const int64_t whole = std::max(end - begin, kShortestNs);
  const int64_t margin = whole / 20 + 1;
  const int64_t span = std::min(span_ns(), whole + 2 * margin);
  // Far in, the edges may come to the middle of the screen; far out, they keep their margin.
  const int64_t slack = std::min(std::max(span / 10, int64_t{1}), margin);
  const int64_t last_begin = std::max(end + slack - span, begin - slack);
  const int64_t at = std::clamp(begin_ns, begin - slack, last_begin);
  return {at, at + span, width_px};
}

}  // namespace tutti::viewer
