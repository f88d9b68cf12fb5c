// Where the time of a step goes: a partition of the step window of one rank into
// exclusive parts. At each moment the first of these that is going on takes it:
//
//   compute > comm transfer > comm wait > comm unsplit > copy > input wait > sync
//
// and what is left is host-bound, or idle where that is not explained by the host.
//
//   ns        0    5    10   15   20   25   30   35   40
//   compute   [========)              [====)
//   wait           [=========)
//   transfer                 [=================)
//   input wait                                 [====)
//   taken by  |compute |wait |transfer|comp|trans|inp |host_bound
//
// Pure functions; callable from any thread. All sets canonical (common/interval.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/interval.h"

namespace tutti::analyzer {

// What goes on on one rank, whichever step launched it. The communication sets may
// overlap one another: where concurrent collectives differ, transfer wins, then wait.
struct ActivitySets {
  IntervalSet compute;        // any compute lane works
  IntervalSet comm_transfer;  // collectives past their ready time
  IntervalSet comm_wait;      // collectives that wait for a late rank
  IntervalSet comm_unsplit;   // communication whose peers' arrivals are not known
  IntervalSet copy;           // memory copies and fills
  IntervalSet input_wait;     // waits for the next batch
  IntervalSet sync;           // host blocked in a synchronisation
  IntervalSet unexplained;    // where a gap is not the host's: idle instead of host-bound
};

// Parts of one window in ns. They add up to its length exactly.
struct Breakdown {
  int64_t compute_ns = 0;
  int64_t exposed_comm_transfer_ns = 0;
  int64_t exposed_comm_wait_ns = 0;
  int64_t exposed_comm_unsplit_ns = 0;
  int64_t exposed_copy_ns = 0;
  int64_t input_wait_ns = 0;
  int64_t sync_ns = 0;
  int64_t host_bound_ns = 0;
  int64_t idle_ns = 0;

  int64_t total_ns() const {
    return compute_ns + exposed_comm_transfer_ns + exposed_comm_wait_ns + exposed_comm_unsplit_ns +
           exposed_copy_ns + input_wait_ns + sync_ns + host_bound_ns + idle_ns;
  }
  friend bool operator==(const Breakdown&, const Breakdown&) = default;
};

// One Breakdown per window. Windows sorted and disjoint (they may touch or be empty).
// O(intervals + windows).
std::vector<Breakdown> BreakDown(const ActivitySets& activity, std::span<const Interval> windows);

// The moments that BreakDown gives to comm wait.
IntervalSet ExposedWait(const ActivitySets& activity);

// Length of a canonical set inside each of the sorted disjoint windows.
std::vector<int64_t> TotalPerWindow(std::span<const Interval> set,
                                    std::span<const Interval> windows);

// A wait for one late rank: part of a collective's interval on the rank that waits.
struct RankWait {
  int late_rank = 0;
  Interval interval;
};

// Wait in ns inside one window, by late rank; in order of late_rank, none is 0.
struct WaitFor {
  int late_rank = 0;
  int64_t wait_ns = 0;
  friend bool operator==(const WaitFor&, const WaitFor&) = default;
};

// Splits `exposed_wait` of each window by who is waited for. Where waits for several
// ranks overlap, the moment is charged to the one whose wait ends last there (it holds
// the others up longest), then to the lowest rank. `waits` in any order; moments of
// exposed_wait that none covers are charged to nobody.
std::vector<std::vector<WaitFor>> SplitWait(std::span<const Interval> exposed_wait,
                                            std::span<const RankWait> waits,
                                            std::span<const Interval> windows);

}  // namespace tutti::analyzer
