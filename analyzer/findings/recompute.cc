// Catalogue 22: activation checkpointing where memory is free: forward runs a second time in
// backward.
//
// Bound per step: time of the operators that build a graph, as only a forward does (operators of
// backward itself have no autograd sequence number), within a backward function, which is where
// activations are asked for: the forward of another micro-batch is in none. Median over ranks.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analyzer/findings/rule.h"
#include "common/interval.h"
#include "schema/trace_file.h"

namespace tutti::analyzer {
namespace {

constexpr double kFullMemory = 0.5;

constexpr std::array kKinds = {
    FindingKind{"recompute",
                "Forward is computed again in backward, though there is memory for what it would "
                "keep (catalogue 22).",
                "mean over steps of the median over ranks of the time of operators within backward "
                "functions that have an autograd sequence number; on GPUs at most a third of "
                "compute_ns",
                "as above; not where a GPU's memory was more than half full at its peak",
                "checkpoint fewer layers, or none (torch.utils.checkpoint, "
                "set_activation_checkpointing)"},
};

using Spans = std::map<std::pair<int64_t, int64_t>, int64_t>;  // ns by (step, rank)

Result<Spans> ReadForwardInBackward(RunContext& context, const schema::RankRow& rank) {
  Spans spans;
  TUTTI_ASSIGN_OR_RETURN(const auto backwards, context.Read<schema::StepBackwardRow>(
                                                   "WHERE rank = ?1 ORDER BY step", rank.rank));
  if (backwards.empty()) return spans;
  const TraceFile& file = context.files().traces[static_cast<size_t>(rank.input_file_id)];
  TUTTI_ASSIGN_OR_RETURN(schema::Database database,
                         schema::OpenRankFile(file.path, {.quick_check = false}));
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement statement,
      database.Prepare("SELECT begin_ns, end_ns, tid, scope = 1 FROM cpu_op"
                       " WHERE (scope = 1 OR (scope = 0 AND sequence_nr >= 0))"
                       " AND end_ns > begin_ns ORDER BY begin_ns, end_ns DESC, scope DESC"));
  size_t place = 0;
  int64_t covered_until_ns = 0;
  std::map<int64_t, int64_t> function_until_ns;  // by thread: end of its backward functions
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return spans;
    TUTTI_ASSIGN_OR_RETURN(int64_t begin_ns, statement.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(int64_t end_ns, statement.Get<int64_t>(1));
    begin_ns += rank.clock_offset_ns;
    end_ns += rank.clock_offset_ns;
    TUTTI_ASSIGN_OR_RETURN(const int64_t thread, statement.Get<int64_t>(2));
    TUTTI_ASSIGN_OR_RETURN(const int64_t is_function, statement.Get<int64_t>(3));
    int64_t& until_ns = function_until_ns[thread];
    if (is_function != 0) until_ns = std::max(until_ns, end_ns);
    if (is_function != 0 || begin_ns >= until_ns) continue;
    while (place < backwards.size() && backwards[place].end_ns <= begin_ns) ++place;
    if (place == backwards.size()) return spans;
    if (begin_ns < backwards[place].begin_ns || end_ns <= covered_until_ns) continue;
    spans[{backwards[place].step, rank.rank}] += end_ns - std::max(begin_ns, covered_until_ns);
    covered_until_ns = end_ns;
  }
}

// Memory that is needed elsewhere is what checkpointing is for.
Result<int64_t> IsMemoryNeeded(RunContext& context) {
  return context.derived().QueryOne<int64_t>(
      "SELECT EXISTS (SELECT 1 FROM memory_trend AS t JOIN memory_peak AS p USING (rank,"
      " device_type, device_id) WHERE p.peak_bytes > " +
      std::to_string(kFullMemory) + " * t.capacity_bytes)");
}

Status FindRecompute(RunContext& context, const FindingFacts& facts,
                     std::vector<FindingDraft>& drafts) {
  Spans spans;
  for (const schema::RankRow& rank : facts.ranks) {
    TUTTI_ASSIGN_OR_RETURN(const Spans own, ReadForwardInBackward(context, rank));
    spans.insert(own.begin(), own.end());
  }
  if (spans.empty()) return OkStatus();
  const bool on_gpus = facts.OnGpus();
  const auto value = [&](const schema::StepBreakdownRow& parts) -> int64_t {
    const auto found = spans.find({parts.step, parts.rank});
    if (found == spans.end()) return 0;
    // What the host takes to hand out is not what a GPU takes for it, and forward is at most a
    // third of forward, forward again and backward.
    return on_gpus ? std::min(found->second, parts.compute_ns / 3) : found->second;
  };
  const std::vector<double> per_step = MedianPerStep(facts, value);
  const CostOfSteps cost = CostOver(facts, per_step);
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const int64_t is_needed, IsMemoryNeeded(context));
  if (is_needed != 0) return OkStatus();
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  draft.row.title = "backward computes " + Duration(cost.cost_ns) +
                    " per step of forward again (activation checkpointing)";
  draft.row.cause = "recompute";
  draft.row.advice = kKinds[0].advice;
  TUTTI_ASSIGN_OR_RETURN(const auto peaks, context.Read<schema::MemoryPeakRow>(
                                               "ORDER BY peak_bytes DESC, rank LIMIT 1"));
  if (!peaks.empty()) {
    draft.row.advice +=
        "; memory is at most " + std::to_string(peaks[0].peak_bytes >> 20) + " MiB as it is";
  }
  AddStepEvidence(facts, per_step, value, "of forward in backward", draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

}  // namespace

extern const FindingRule kRecomputeRule;
const FindingRule kRecomputeRule{kKinds, FindRecompute};

}  // namespace tutti::analyzer
