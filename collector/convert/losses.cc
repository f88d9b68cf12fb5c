#include "collector/convert/losses.h"

#include <algorithm>

namespace tutti::collector::convert {
namespace {

Finding FindingFor(wire::LossReason reason) {
  using enum wire::NoteSeverity;
  switch (reason) {
    case wire::LossReason::kRingFull:
      return {kDataLoss, kRingDropped, "tracer.ring",
              "events were dropped because their thread's buffer was full",
              "record with a larger --buffer, or leave sources out with --trace"};
    case wire::LossReason::kNoRing:
      return {kDataLoss, "no_free_ring", "tracer.ring",
              "events were dropped because more threads wrote than there are buffers",
              "record with a larger --buffer"};
    case wire::LossReason::kStringTableFull:
      return {kDataLoss, "strings_refused", "tracer.strings",
              "names and shapes were not stored because the string table was full; "
              "their events are there without them",
              "record with a larger --buffer, or without --shapes"};
    case wire::LossReason::kUnbalancedEnd:
      return {kNotice, "unbalanced_end", "tracer",
              "spans ended whose begin was not recorded: it lies before capture began", ""};
    case wire::LossReason::kTooDeep:
      return {kDataLoss, "too_deep", "tracer",
              "events were dropped because spans nested deeper than the tracer follows", ""};
    case wire::LossReason::kReentered:
      return {kDataLoss, "reentered", "tracer",
              "events were dropped that happened inside the tracer itself, as from a signal "
              "handler",
              ""};
    case wire::LossReason::kNone:
      break;
  }
  return {kDataLoss, "unknown_loss", "tracer",
          "events were dropped for a reason that this build does not know", "update Tutti"};
}

}  // namespace

void Losses::Report(wire::LossReason reason, uint64_t count, uint64_t first_ticks,
                    uint64_t last_ticks) {
  TimeRange range;
  if (first_ticks != 0) range.begin_ns = context_.clock.ToTraceNs(first_ticks);
  if (last_ticks != 0) range.end_ns = context_.clock.ToTraceNs(last_ticks);
  const uint64_t sane = std::min<uint64_t>(count, INT64_MAX / 2);
  context_.findings.Add(FindingFor(reason), static_cast<int64_t>(sane), range);
}

void Losses::OnLoss(uint32_t ring, const wire::LossRecord& record) {
  const auto reason = static_cast<wire::LossReason>(record.header.flags);
  if (record.count == 0) return;
  holes_[{ring, reason}] += record.count;
  Report(reason, record.count, record.first_ticks, record.last_ticks);
}

void Losses::OnTotal(const spool::LossTotal& total) { totals_[{total.ring, total.reason}] = total; }

void Losses::Finish() {
  // A thread that found no free ring at first may tell of it later on the ring it got.
  uint64_t no_ring_holes = 0;
  for (const auto& [key, count] : holes_) {
    if (key.second == wire::LossReason::kNoRing) no_ring_holes += count;
  }
  for (const auto& [key, total] : totals_) {
    const bool of_process = key.first == spool::kNoRing;
    uint64_t reported = of_process && key.second == wire::LossReason::kNoRing ? no_ring_holes : 0;
    if (const auto holes = holes_.find(key); holes != holes_.end()) reported = holes->second;
    if (const auto before = before_.find(key); before != before_.end()) {
      reported += before->second.count;
    }
    if (total.count > reported) {
      Report(key.second, total.count - reported, total.first_ticks, total.last_ticks);
    }
  }
  totals_.clear();
}

}  // namespace tutti::collector::convert
