// Communication of each step and rank, and what of it no compute hides; of the median step,
// when what goes on.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/input/activity.h"
#include "analyzer/input/matched_calls.h"
#include "analyzer/input/step_index.h"
#include "analyzer/input/steps_that_count.h"
#include "analyzer/metrics/coarsen.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

// Of each kind and rank: enough for a picture, few enough for many ranks.
size_t MostSpans(size_t ranks) { return std::clamp<size_t>(32768 / ranks, 16, 512); }

Result<std::optional<int64_t>> MedianStep(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const StepsThatCount counting, ReadStepsThatCount(context));
  std::vector<std::pair<int64_t, int64_t>> lengths;
  for (const schema::RunStepRow& step : counting.steps) {
    lengths.emplace_back(step.step_period_ns.value_or(step.end_ns - step.begin_ns), step.step);
  }
  if (lengths.empty()) return std::optional<int64_t>();
  const auto median = lengths.begin() + static_cast<ptrdiff_t>((lengths.size() - 1) / 2);
  std::nth_element(lengths.begin(), median, lengths.end());
  return std::optional<int64_t>(median->second);
}

Status WriteSpans(RunContext& context, int64_t rank, int64_t step, Interval window, size_t most,
                  const ActivitySets& sets) {
  const std::pair<const char*, const IntervalSet*> kinds[] = {
      {"compute", &sets.compute},
      {"comm_transfer", &sets.comm_transfer},
      {"comm_wait", &sets.comm_wait},
      {"comm_unsplit", &sets.comm_unsplit},
      {"copy", &sets.copy},
      {"input_wait", &sets.input_wait},
      {"sync", &sets.sync}};
  std::vector<schema::MedianStepSpanRow> rows;
  for (const auto& [kind, set] : kinds) {
    for (const CoarseSpan& span : Coarsen(Clip(*set, window), most)) {
      rows.push_back(
          {rank, step, kind, span.interval.begin_ns, span.interval.end_ns, span.busy_ns});
    }
  }
  return context.Write(rows);
}

// What all ranks have in common.
struct Common {
  std::optional<int64_t> median_step;
  size_t most_spans;
};

Status OverlapOfRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace,
                     const Common& common) {
  TUTTI_ASSIGN_OR_RETURN(const auto windows, context.Read<schema::StepWindowRow>(
                                                 "WHERE rank = ?1 ORDER BY step", rank.rank));
  TUTTI_ASSIGN_OR_RETURN(const RankActivity activity, ReadMatchedActivity(context, rank, trace));

  const StepIndex steps(windows);
  const std::vector<int64_t> comm = TotalPerWindow(activity.comm, steps.windows());
  const std::vector<int64_t> exposed =
      TotalPerWindow(Subtract(activity.comm, activity.sets.compute), steps.windows());
  std::vector<schema::StepOverlapRow> rows;
  for (size_t i = 0; i < comm.size(); ++i) {
    rows.push_back({rank.rank, steps.steps()[i], comm[i], exposed[i]});
    if (steps.steps()[i] != common.median_step) continue;
    TUTTI_RETURN_IF_ERROR(WriteSpans(context, rank.rank, steps.steps()[i], steps.windows()[i],
                                     common.most_spans, activity.sets));
  }
  return context.Write(rows);
}

Status Run(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const auto ranks, context.Ranks());
  TUTTI_ASSIGN_OR_RETURN(const auto median_step, MedianStep(context));
  const Common common{median_step, MostSpans(std::max<size_t>(ranks.size(), 1))};
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return OverlapOfRank(context, rank, trace, common);
  });
}

constexpr PassCheck kChecks[] = {
    {"exposed communication is that of the breakdown",
     "SELECT count(*) FROM step_overlap AS o JOIN step_breakdown AS b USING (rank, step)"
     " WHERE o.exposed_ns <> b.exposed_comm_transfer_ns + b.exposed_comm_wait_ns"
     " + b.exposed_comm_unsplit_ns"},
    {"compute of the median step is that of the breakdown",
     "SELECT count(*) FROM (SELECT rank, step, sum(busy_ns) AS busy_ns FROM median_step_span"
     " WHERE kind = 'compute' GROUP BY rank, step) AS m JOIN step_breakdown AS b USING (rank, step)"
     " WHERE m.busy_ns <> b.compute_ns"},
};

}  // namespace

extern const Pass kOverlapPass;
const Pass kOverlapPass{"overlap", Run, kChecks, PassScope::kRank};

}  // namespace tutti::analyzer
