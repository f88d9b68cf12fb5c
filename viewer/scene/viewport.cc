#include "viewer/scene/viewport.h"

#include <algorithm>
#include <cmath>

namespace tutti::viewer {
int64_t Viewport::ToTime(double x) const {
  return begin_ns + static_cast<int64_t>(std::llround(x * ns_per_px()));
}

int64_t Viewport::LongColumnBegin(int column) const {
  return begin_ns + static_cast<int64_t>(static_cast<__int128>(span_ns()) * column / width_px);
}

int Viewport::LongColumnOf(int64_t time_ns) const {
  const auto beyond = (static_cast<__int128>(time_ns - begin_ns) + 1) * width_px - 1;
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

Viewport GlideAt(const Viewport& from, const Viewport& to, double share) {
  if (share >= 1) return to;
  const double eased = 1 - std::pow(1 - std::max(0.0, share), 3);
  const auto from_span = static_cast<double>(from.span_ns());
  const auto to_span = static_cast<double>(to.span_ns());
  const double span = from_span * std::pow(to_span / from_span, eased);
  // With the span, where it differs; a difference of spans may not be larger than themselves.
  const bool zooms = std::abs(to_span - from_span) > 1e-3 * from_span;
  const double moved = zooms ? (span - from_span) / (to_span - from_span) : eased;
  const auto shift = static_cast<double>(to.begin_ns - from.begin_ns) * moved;
  const int64_t begin = from.begin_ns + static_cast<int64_t>(shift);
  const auto length = std::max(Viewport::kShortestNs, static_cast<int64_t>(span));
  return {begin, begin + length, to.width_px};
}

}  // namespace tutti::viewer
