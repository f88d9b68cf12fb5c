// Communication of each step and rank, and what of it no compute hides.
#include <vector>

#include "analyzer/input/activity.h"
#include "analyzer/input/matched_calls.h"
#include "analyzer/input/step_index.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

Status OverlapOfRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto windows, context.Read<schema::StepWindowRow>(
                                                 "WHERE rank = ?1 ORDER BY step", rank.rank));
  TUTTI_ASSIGN_OR_RETURN(const auto lanes,
                         context.Read<schema::LaneRow>("WHERE rank = ?1", rank.rank));
  TUTTI_ASSIGN_OR_RETURN(const std::vector<MatchedCall> calls, ReadMatchedCalls(context, rank));
  TUTTI_ASSIGN_OR_RETURN(const RankActivity activity, ReadActivity(rank, trace, lanes, calls));

  const StepIndex steps(windows);
  const std::vector<int64_t> comm = TotalPerWindow(activity.comm, steps.windows());
  const std::vector<int64_t> exposed =
      TotalPerWindow(Subtract(activity.comm, activity.sets.compute), steps.windows());
  std::vector<schema::StepOverlapRow> rows;
  for (size_t i = 0; i < comm.size(); ++i) {
    rows.push_back({rank.rank, steps.steps()[i], comm[i], exposed[i]});
  }
  return context.Write(rows);
}

Status Run(RunContext& context) {
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return OverlapOfRank(context, rank, trace);
  });
}

constexpr PassCheck kChecks[] = {
    {"exposed communication is that of the breakdown",
     "SELECT count(*) FROM step_overlap AS o JOIN step_breakdown AS b USING (rank, step)"
     " WHERE o.exposed_ns <> b.exposed_comm_transfer_ns + b.exposed_comm_wait_ns"
     " + b.exposed_comm_unsplit_ns"},
};

}  // namespace

extern const Pass kOverlapPass;
const Pass kOverlapPass{"overlap", Run, kChecks};

}  // namespace tutti::analyzer
