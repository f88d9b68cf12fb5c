// What push/pop ranges and marks of one rank mean beyond being ranges: steps, phases and
// waits for data by the conventions of conventions/range_name.h, operators that emit_nvtx
// wrote, and everything of the domain "tutti" (tracer/annotate.h under nsys).
//
// Several conventions may be nested ("iteration 3" around "step"): of those found, one is
// taken for steps: PyTorch's, else one with numbers, else one without; of equals the
// outermost, then the most frequent. Of phases of one kind inside each other the outer one
// counts. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "collector/importers/nsys/marked_range.h"
#include "collector/importers/nsys/rank_output.h"

namespace tutti::collector::importers::nsys {

class NvtxMeaning {
 public:
  explicit NvtxMeaning(RankOutput& rank) : rank_(rank) {}

  // Push/pop ranges of domains other than "tutti" and NCCL's, in order of begin_ns.
  void OnRange(const MarkedRange& range);
  // Ranges and marks of the domain "tutti".
  void OnAnnotation(const MarkedRange& range, bool is_mark);
  // Rows that need to know all ranges.
  void Finish();

 private:
  struct Step {
    int64_t tid;
    int64_t begin_ns;
    std::optional<int64_t> end_ns;
    std::optional<int64_t> number;
  };
  struct Convention {
    std::vector<Step> steps;
    int64_t depth_sum = 0;
    bool is_numbered = false;
  };
  // End of the last phase of a kind on a thread, while it may still enclose others.
  using PhaseKey = std::pair<int64_t, std::string>;

  void OnOperator(const MarkedRange& range, std::string_view name);
  void OnPhase(const MarkedRange& range, std::string_view phase, const char* origin);
  void OnCounter(const MarkedRange& range);
  void WriteBatch(schema::BatchRow row);
  void WriteSteps(const std::string& stem, const Convention& convention);

  RankOutput& rank_;
  std::map<std::string, Convention> conventions_;  // by stem
  size_t steps_ = 0;
  std::map<PhaseKey, int64_t> phase_end_ns_;
  std::map<int64_t, schema::BatchRow> batches_;  // by tid, samples without tokens yet
  std::unordered_map<std::string, int64_t> counters_;
};

}  // namespace tutti::collector::importers::nsys
