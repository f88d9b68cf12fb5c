#include "analyzer/replay/job_graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyzer/input/steps_that_count.h"
#include "analyzer/metrics/collective_timing.h"
#include "analyzer/replay/collective_join.h"
#include "analyzer/replay/gradient_source.h"
#include "analyzer/replay/rank_events.h"

namespace tutti::analyzer {
namespace {

// From the first step that counts on, without holes, so many that their rows fit.
Status TakeSteps(RunContext& context, const std::vector<schema::RankRow>& ranks,
                 const JobRange& range, JobGraph& job) {
  TUTTI_ASSIGN_OR_RETURN(StepsThatCount counted, ReadStepsThatCount(context));
  TUTTI_ASSIGN_OR_RETURN(const auto all, context.Read<schema::RunStepRow>("ORDER BY step"));
  if (range.all_steps) counted.steps = all;
  if (counted.steps.empty()) return OkStatus();
  int64_t rows = 0;
  for (const schema::RankRow& rank : ranks) rows += rank.events;
  const int64_t rows_per_step = std::max<int64_t>(rows / static_cast<int64_t>(all.size()), 1);
  const int64_t most_steps = std::max<int64_t>(range.most_rows / rows_per_step, 1);
  std::set<int64_t> counts;
  for (const schema::RunStepRow& step : counted.steps) counts.insert(step.step);
  const int64_t first = counted.steps.front().step;
  const int64_t last = std::min(counted.steps.back().step, first + most_steps - 1);
  for (int64_t step = first; step <= last; ++step) {
    job.steps.push_back(all[static_cast<size_t>(step)]);
    job.step_counts.push_back(counts.contains(step));
  }
  job.begin_ns = first > 0 ? all[static_cast<size_t>(first) - 1].end_ns : job.steps[0].begin_ns;
  return OkStatus();
}

// Calls of the rank that began and ended.
Result<std::vector<ReplayCall>> ReadCalls(RunContext& context, const schema::RankRow& rank) {
  TUTTI_ASSIGN_OR_RETURN(const auto rows,
                         context.Read<schema::CollectiveCallRow>(
                             "WHERE rank = ?1 AND arrival_ns IS NOT NULL AND end_ns IS NOT NULL"
                             " ORDER BY collective_id",
                             rank.rank));
  std::vector<ReplayCall> calls;
  for (const schema::CollectiveCallRow& row : rows) {
    calls.push_back(
        {row.collective_id, row.source_id, row.enqueue_ns, {*row.arrival_ns, *row.end_ns}});
  }
  return calls;
}

Status AddRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace, JobGraph& job,
               std::vector<CallEvents>& calls) {
  TUTTI_ASSIGN_OR_RETURN(const auto lanes,
                         context.Read<schema::LaneRow>("WHERE rank = ?1", rank.rank));
  TUTTI_ASSIGN_OR_RETURN(const auto windows,
                         context.Read<schema::StepWindowRow>(
                             "WHERE rank = ?1 AND step BETWEEN ?2 AND ?3 ORDER BY step", rank.rank,
                             job.steps.front().step, job.steps.back().step));
  TUTTI_ASSIGN_OR_RETURN(const auto own, ReadCalls(context, rank));
  const auto place = static_cast<uint32_t>(job.ranks.size());
  job.ranks.push_back(rank.rank);
  return AddRankEvents({rank, place, trace, lanes, windows, own}, job, calls);
}

}  // namespace

uint32_t NameTable::Intern(std::string_view text) {
  const auto [known, is_new] =
      ids_.try_emplace(std::string(text), static_cast<uint32_t>(texts_.size()));
  if (is_new) texts_.emplace_back(text);
  return known->second;
}

Result<JobGraph> BuildJobGraph(RunContext& context, const JobRange& range) {
  JobGraph job;
  TUTTI_ASSIGN_OR_RETURN(const auto ranks, context.Ranks());
  TUTTI_RETURN_IF_ERROR(TakeSteps(context, ranks, range, job));
  if (job.steps.empty()) return job;
  std::vector<CallEvents> calls;
  TUTTI_RETURN_IF_ERROR(context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return AddRank(context, rank, trace, job, calls);
  }));
  TUTTI_RETURN_IF_ERROR(JoinCollectives(context, calls, job));
  TUTTI_RETURN_IF_ERROR(FindGradients(context, calls, job));
  job.events.Finish();
  return job;
}

}  // namespace tutti::analyzer
