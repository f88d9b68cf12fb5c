// Ranks on several hosts have clocks of their own, which the analyzer aligns: as far as they are
// known to differ, and how exact that is. Pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "viewer/model/rank_trace.h"

namespace tutti::viewer {

// How much later than aligned each rank's events are if its own clock is believed, by slot; rank 0
// stays in place. Empty where all ranks share a clock, and of two runs, whose axis is no clock.
std::vector<int64_t> OwnClockShifts(const RunSummary& summary);

// By how much aligned times of a rank may be early or late against those of ranks with another
// clock. nullopt: there are none, or it is not known.
std::optional<int64_t> ClockErrorNs(const RunSummary& summary, size_t slot);

// The rank with all its times `shift_ns` later.
std::shared_ptr<const RankTrace> MovedBy(const RankTrace& trace, int64_t shift_ns);

}  // namespace tutti::viewer
