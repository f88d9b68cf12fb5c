// One launch of a job as comparisons see it: its steps, what it ran on, and how long its named
// parts took. Value types; times in nanoseconds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schema/step_parts.h"

namespace tutti::analyzer::compare {

// Exclusive parts of a step, as columns of step_breakdown, then what lies between the windows.
inline constexpr size_t kBreakdownParts = schema::kStepParts.size();
inline constexpr size_t kBetweenSteps = kBreakdownParts;    // of one rank, outside of its steps
inline constexpr size_t kRanksApart = kBreakdownParts + 1;  // the step period less the mean over
                                                            // ranks of all the above
inline constexpr std::array<std::string_view, kBreakdownParts + 2> kParts = [] {
  std::array<std::string_view, kBreakdownParts + 2> parts;
  std::copy(schema::kStepParts.begin(), schema::kStepParts.end(), parts.begin());
  parts[kBetweenSteps] = "between_steps";
  parts[kRanksApart] = "ranks_apart";
  return parts;
}();
enum : size_t { kTransferPart = 1, kWaitPart = 2, kUnsplitPart = 3 };

// A complete training step over all ranks.
struct StepRecord {
  int64_t step = 0;
  int64_t length_ns = 0;             // end - begin; stands for the period of the first step
  std::optional<int64_t> period_ns;  // end - end of the step before
  int64_t ranks = 0;                 // that the sums are of; 0: no breakdown is known
  std::array<int64_t, kBreakdownParts> part_ns = {};  // sums over ranks
  int64_t between_ns = 0;                             // the same
  int64_t comm_ns = 0;                                // the same, hidden or not
  int64_t longest_input_wait_ns = 0;                  // of any rank
  int64_t own_spread_ns = 0;  // longest less shortest time over ranks, waits for others left out
  std::optional<int64_t> samples;  // sum over ranks
  std::optional<int64_t> tokens;   // the same

  bool operator==(const StepRecord&) const = default;
};

// What has to be the same for a comparison to mean anything. Empty or 0: not known.
struct RunFacts {
  std::string workload = {};
  int64_t ranks = 0;               // analyzed
  int64_t ranks_expected = 0;      // of the job
  std::string device_kind = {};    // 'cpu', 'gpu', "cpu, gpu"
  std::string gpus = {};           // product names, by commas
  std::string torch_version = {};  // by commas where ranks differ
  std::string hosts = {};          // by commas
  std::string hardware = {};       // CPU model
};

// Operators, kernels and collectives by (kind, name).
using NameKey = std::pair<std::string, std::string>;
struct NamedTime {
  double count_per_step = 0;  // mean over ranks; of collectives: in the job
  double ns_per_step = 0;     // self time, or transfer time of collectives

  bool operator==(const NamedTime&) const = default;
};

struct Launch {
  std::string name;  // as the user gave it
  RunFacts facts;
  std::vector<StepRecord> steps;             // complete training steps in order
  std::optional<int64_t> begin_ns;           // when it ran; nothing if only step times are known
  std::optional<int64_t> end_ns;             // the same
  std::optional<int64_t> memory_peak_bytes;  // highest of any rank and device
  std::optional<double> control_ns;  // fixed work timed beside it: tells the machine's state
  std::map<NameKey, NamedTime> names;
  int64_t ranks_missing = 0;
  int64_t events_lost = 0;
  int64_t resolution_ns = 1;  // in which its step times are given
};

}  // namespace tutti::analyzer::compare
