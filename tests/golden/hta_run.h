// A rank's trace as HolisticTraceAnalysis (commit f4d0062c) takes it, so that Tutti's functions
// can be compared with its figures. This comparison mode lives in the test alone; Tutti itself
// neither leaves out events nor rounds. HTA
//   - takes only device work whose launch call is known and begins before the last
//     ProfilerStep#N, where there are at least two;
//   - rounds begins up and ends down to whole microseconds where a file's times have fractions,
//     after adding duration to begin as doubles;
//   - counts every row with a stream as device work, synchronisations too (a defect);
//   - knows communication by the names nccl… and …ncclKernel….
// For tests only; failures abort the test program.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/interval.h"

namespace tutti::golden {

struct HtaEvent {
  enum class Kind { kCompute, kCommunication, kMemory };
  Kind kind = Kind::kCompute;
  std::string name;
  int64_t stream = 0;
  int64_t correlation = 0;
  Interval exact_ns;  // as Tutti has it
  Interval us;        // as HTA has it, in microseconds; an end before the begin is the begin
  Interval call_us;   // its launch call
  int64_t bytes = 0;  // copies and fills
};

// Device work that HTA keeps, by begin. `base_ns` is what the importer added to the file's own
// times (its baseTimeNanoseconds): HTA's doubles are of the latter.
std::vector<HtaEvent> ReadHtaEvents(const std::string& rank_file, int64_t base_ns);

}  // namespace tutti::golden
