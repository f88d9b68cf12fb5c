// The dependency graph of a range of steps over all ranks.
//   program order   of the training threads together, of other launching threads, of streams
//   launches        the call's begin -> the work's begin
//   waits           work's end -> the end of the call that blocks for it; a collective's end
//                   -> what a training thread does next, where it stood still until then
//   streams         a communication kernel waits for the compute that was launched before it;
//                   work that neither launch nor stream explain for what ended last on the GPU
//   collectives     all members' arrivals -> ready -> each member's end, by the kind of
//                   operation (metrics/collective_timing.h); only complete ones on one clock
// Linear in the rows of the range. Callable from any thread that owns the context.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/replay/event_graph.h"
#include "analyzer/replay/gradients.h"
#include "analyzer/run_context.h"
#include "common/status.h"
#include "schema/derived_rows.h"

namespace tutti::analyzer {

// Texts by small numbers; 0 is "".
class NameTable {
 public:
  uint32_t Intern(std::string_view text);
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_ = {""};
  std::unordered_map<std::string, uint32_t> ids_ = {{"", 0}};
};

struct JobGraph {
  EventGraph events;
  NameTable names;
  Gradients gradients;
  std::vector<int64_t> ranks;             // by place
  std::vector<schema::RunStepRow> steps;  // by place: a range of steps without holes
  std::vector<bool> step_counts;          // by place: it is among those that count
  int64_t begin_ns = 0;                   // the latest end of the step before, else the first begin
  int64_t collectives_joined = 0;
  int64_t collectives_alone = 0;  // not complete, or not on one clock
};

struct JobRange {
  // Bounds the raw rows of the steps taken, roughly: steps are taken from the first on, at
  // least one.
  int64_t most_rows = 0;
  bool all_steps = false;  // not only those that count
};

// No step: an empty graph.
Result<JobGraph> BuildJobGraph(RunContext& context, const JobRange& range);

}  // namespace tutti::analyzer
