// Gaps of a GPU or of one stream, and what they are spent on: the host had not launched the
// next work yet, or it had and the work had not begun.
//
//   ns       0    10   20   30   40   50   60   70
//   launch          B[==)          D[==)
//   stream   [=A==)       [=B==)            [=D==)
//   gap           [host==|)     [host======|=====)
//   launched             19..20             33..42   (launch latency)
//
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/interval.h"

namespace tutti::analyzer {

// Work of a device in order of its begin. `launched_ns` is the moment its launch call
// returned; empty if no call is known.
struct DeviceWork {
  Interval time;
  std::optional<int64_t> launched_ns;
};

struct DeviceGap {
  Interval time;                       // nothing runs; never empty
  std::optional<int64_t> launched_ns;  // of the work that ends the gap, empty if not known
};

// Times between one work's end and the next one's begin, where nothing of `work` runs. Work
// without length ends no gap. `work` sorted by begin; of several that begin together the one
// that was launched last ends the gap. O(n).
std::vector<DeviceGap> GapsBetween(std::span<const DeviceWork> work);

// The gaps of the whole device inside `capture`, also before its first and after its last
// work. After the last one nothing was launched any more: the host's, if any launch is known
// (launched_ns = end of the gap), else not known.
std::vector<DeviceGap> DeviceGaps(std::span<const DeviceWork> work, Interval capture);

// What gaps are spent on. Each set canonical; together they are the gaps.
struct GapCauses {
  IntervalSet host;      // the launch call of the work that ends the gap had not returned
  IntervalSet launched;  // it had, but the work had not begun
  IntervalSet unknown;   // no launch of it is known
};
GapCauses CausesOf(std::span<const DeviceGap> gaps);

// How long 0, 1, 2, … of the sets hold at once inside `span`: index = number of sets. Each
// set canonical. Sums to span's length. O(n log n).
std::vector<int64_t> ConcurrencyNs(std::span<const IntervalSet> sets, Interval span);

}  // namespace tutti::analyzer
