// Fixed work that no change of the job touches: a matrix product on every rank, then an all-reduce
// of its result around a ring of sockets. Timed beside each launch, it tells a change of the
// machine (clocks, neighbours, throttling) from a change of the code.
// Starts and ends its own threads; callable from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"

namespace tutti::collector::campaign {

struct ControlTimes {
  std::vector<int64_t> ns;  // of each repetition, from the first rank's begin to the last one's end
  double checksum = 0;      // of the all-reduced result: the same on every machine for `ranks`
};

// `ranks` >= 2 threads. kIo: no sockets, or a neighbour that is gone.
Result<ControlTimes> MeasureControl(size_t ranks, size_t repetitions);

// RUN/control.json as `tutti compare` reads it.
std::string ControlJson(const ControlTimes& times);

}  // namespace tutti::collector::campaign
