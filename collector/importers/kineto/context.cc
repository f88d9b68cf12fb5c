#include "collector/importers/kineto/context.h"

#include <algorithm>

#include "collector/importers/kineto/number.h"

namespace tutti::collector::importers::kineto {

void Context::Skip(const Oddity& oddity, const RawEvent& event, std::string_view about) {
  ledger.Count(oddity, event.offset, {}, 1, about);
  ++events_skipped;
}

void Context::Saw(int64_t begin_ns, int64_t end_ns) {
  first_ns = first_ns ? std::min(*first_ns, begin_ns) : begin_ns;
  last_ns = last_ns ? std::max(*last_ns, end_ns) : end_ns;
}

std::optional<int64_t> Context::TimeOf(const RawEvent& event) {
  const std::optional<int64_t> since_base_ns = ParseMicroseconds(event.time);
  int64_t time_ns = 0;
  if (!since_base_ns || __builtin_add_overflow(base_ns, *since_base_ns, &time_ns)) {
    Skip(odd::kNoTime, event);
    return std::nullopt;
  }
  return time_ns;
}

Context::DurationFault Context::EndOf(const RawEvent& event, int64_t begin_ns,
                                      int64_t& end_ns) const {
  if (event.duration.empty()) return DurationFault::kMissing;
  const std::optional<int64_t> duration_ns = ParseMicroseconds(event.duration);
  // A number that does not fit is as absurd as one that does and is too long.
  if (!duration_ns) {
    return ParseNumber(event.duration) ? DurationFault::kAbsurd : DurationFault::kMissing;
  }
  if (*duration_ns < 0) return DurationFault::kNegative;
  if (*duration_ns > kLongestNs || __builtin_add_overflow(begin_ns, *duration_ns, &end_ns)) {
    return DurationFault::kAbsurd;
  }
  return DurationFault::kNone;
}

std::optional<HostTimes> Context::HostTimesOf(const RawEvent& event) {
  const std::optional<int64_t> begin_ns = TimeOf(event);
  if (!begin_ns) return std::nullopt;
  HostTimes times{*begin_ns, std::nullopt};
  int64_t end_ns = *begin_ns;
  switch (EndOf(event, *begin_ns, end_ns)) {
    case DurationFault::kNone:
      times.end_ns = end_ns;
      break;
    case DurationFault::kAbsurd:
      ledger.Count(odd::kAbsurdDuration, event.offset, begin_ns);
      break;
    case DurationFault::kMissing:
    case DurationFault::kNegative:  // how Kineto writes what had not ended
      ledger.Count(odd::kUnfinished, event.offset, begin_ns);
      break;
  }
  Saw(*begin_ns, end_ns);
  return times;
}

std::optional<DeviceTimes> Context::DeviceTimesOf(const RawEvent& event) {
  const std::optional<int64_t> begin_ns = TimeOf(event);
  if (!begin_ns) return std::nullopt;
  int64_t end_ns = *begin_ns;
  switch (EndOf(event, *begin_ns, end_ns)) {
    case DurationFault::kNone:
      break;
    case DurationFault::kAbsurd:
      ledger.Count(odd::kAbsurdDuration, event.offset, begin_ns);
      return DeviceTimes{};
    case DurationFault::kNegative:
      ledger.Count(odd::kInvalidDuration, event.offset, begin_ns);
      return DeviceTimes{};
    case DurationFault::kMissing:
      ledger.Count(odd::kUntimed, event.offset);
      return DeviceTimes{};
  }
  // CUPTI says 0 for begin and end where it knows neither; Kineto may have taken the base
  // off it.
  const bool is_zero = *begin_ns == base_ns || *begin_ns <= 0;
  if (is_zero && end_ns == *begin_ns) {
    ledger.Count(odd::kUntimed, event.offset);
    return DeviceTimes{};
  }
  Saw(*begin_ns, end_ns);
  return DeviceTimes{begin_ns, end_ns};
}

}  // namespace tutti::collector::importers::kineto
