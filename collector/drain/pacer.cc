#include "collector/drain/pacer.h"

#include <algorithm>

namespace tutti::collector::drain {
namespace {

constexpr int64_t kShortestNs = 500'000;  // reliability.md 3d: more often slows the writers
constexpr int64_t kActiveLimitNs = 25'000'000;
constexpr int64_t kIdleLimitNs = 100'000'000;
constexpr double kTargetFill = 0.125;  // a burst of eight times the last rate still fits

}  // namespace

Pacer::Pacer(int64_t flush_ns)
    : active_limit_ns_(std::clamp(flush_ns, kShortestNs, kActiveLimitNs)),
      idle_limit_ns_(std::clamp(flush_ns, kShortestNs, kIdleLimitNs)),
      interval_ns_(kShortestNs * 4) {}

int64_t Pacer::AfterPoll(bool found_events, double max_fill_frac) {
  if (max_fill_frac > kTargetFill) {
    interval_ns_ =
        static_cast<int64_t>(static_cast<double>(interval_ns_) * kTargetFill / max_fill_frac);
  } else {
    interval_ns_ += interval_ns_ / 4;
  }
  const int64_t limit_ns = found_events ? active_limit_ns_ : idle_limit_ns_;
  interval_ns_ = std::clamp(interval_ns_, kShortestNs, limit_ns);
  return interval_ns_;
}

}  // namespace tutti::collector::drain
