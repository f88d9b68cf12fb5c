// Where each step's time goes on each rank, and for which late rank it waits.
#include <vector>

#include "analyzer/input/activity.h"
#include "analyzer/input/matched_calls.h"
#include "analyzer/input/step_index.h"
#include "analyzer/metrics/breakdown.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

schema::StepBreakdownRow ToRow(int64_t rank, int64_t step, const Breakdown& parts) {
  schema::StepBreakdownRow row;
  row.rank = rank;
  row.step = step;
  row.step_ns = parts.total_ns();
  row.compute_ns = parts.compute_ns;
  row.exposed_comm_transfer_ns = parts.exposed_comm_transfer_ns;
  row.exposed_comm_wait_ns = parts.exposed_comm_wait_ns;
  row.exposed_comm_unsplit_ns = parts.exposed_comm_unsplit_ns;
  row.exposed_copy_ns = parts.exposed_copy_ns;
  row.input_wait_ns = parts.input_wait_ns;
  row.sync_ns = parts.sync_ns;
  row.host_bound_ns = parts.host_bound_ns;
  row.idle_ns = parts.idle_ns;
  return row;
}

Status BreakDownRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto windows, context.Read<schema::StepWindowRow>(
                                                 "WHERE rank = ?1 ORDER BY step", rank.rank));
  TUTTI_ASSIGN_OR_RETURN(const RankActivity activity, ReadMatchedActivity(context, rank, trace));

  const StepIndex steps(windows);
  const std::vector<Breakdown> parts = BreakDown(activity.sets, steps.windows());
  const auto waits = SplitWait(ExposedWait(activity.sets), activity.waits, steps.windows());
  std::vector<schema::StepBreakdownRow> rows;
  std::vector<schema::StepWaitForRow> wait_rows;
  for (size_t i = 0; i < parts.size(); ++i) {
    const int64_t step = steps.steps()[i];
    rows.push_back(ToRow(rank.rank, step, parts[i]));
    for (const WaitFor& wait : waits[i]) {
      wait_rows.push_back({step, rank.rank, wait.late_rank, wait.wait_ns});
    }
  }
  TUTTI_RETURN_IF_ERROR(context.Write(rows));
  return context.Write(wait_rows);
}

Status Run(RunContext& context) {
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return BreakDownRank(context, rank, trace);
  });
}

constexpr PassCheck kChecks[] = {
    {"the parts of each step and rank add up to its window",
     "SELECT count(*) FROM step_window AS w LEFT JOIN step_breakdown AS b USING (rank, step)"
     " WHERE b.step_ns IS NOT w.step_ns"},
    {"nobody is waited for longer than is waited",
     "SELECT count(*) FROM (SELECT w.rank, w.step, sum(w.wait_ns) AS waited FROM step_wait_for AS w"
     " GROUP BY w.rank, w.step) AS s JOIN step_breakdown AS b USING (rank, step)"
     " WHERE s.waited > b.exposed_comm_wait_ns"},
    {"nobody waits for itself", "SELECT count(*) FROM step_wait_for WHERE rank = late_rank"},
};

}  // namespace

extern const Pass kStepBreakdownPass;
const Pass kStepBreakdownPass{"step_breakdown", Run, kChecks, PassScope::kRank};

}  // namespace tutti::analyzer
