// What each step worked on, as the program told it.
#include <algorithm>
#include <map>

#include "analyzer/input/limits.h"
#include "analyzer/input/step_index.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

void AddTo(std::optional<int64_t>& sum, const std::optional<int64_t>& value) {
  if (value) sum = SaturatingAdd(sum.value_or(0), *value);
}

// A batch that is told between two steps belongs to the one that follows.
std::optional<int64_t> StepOf(const StepIndex& steps, int64_t time_ns) {
  if (const auto step = steps.ByHost(time_ns)) return step;
  if (const auto step = steps.ByWindow(time_ns)) return step;
  const auto windows = steps.windows();
  const auto next =
      std::upper_bound(windows.begin(), windows.end(), time_ns,
                       [](int64_t t, const Interval& window) { return t < window.begin_ns; });
  if (next == windows.end()) return std::nullopt;
  return steps.steps()[static_cast<size_t>(next - windows.begin())];
}

Status BatchesOfRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto windows, context.Read<schema::StepWindowRow>(
                                                 "WHERE rank = ?1 ORDER BY step", rank.rank));
  const StepIndex steps(windows);
  TUTTI_ASSIGN_OR_RETURN(const auto batches, trace.Batches());
  std::map<int64_t, schema::StepBatchRow> by_step;
  for (const schema::BatchRow& batch : batches) {
    const std::optional<int64_t> step = StepOf(steps, batch.time_ns);
    if (!step) continue;
    schema::StepBatchRow& row = by_step[*step];
    row.rank = rank.rank;
    row.step = *step;
    AddTo(row.samples, batch.samples);
    AddTo(row.tokens, batch.tokens);
  }
  std::vector<schema::StepBatchRow> rows;
  for (const auto& [step, row] : by_step) rows.push_back(row);
  return context.Write(rows);
}

Status Run(RunContext& context) {
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return BatchesOfRank(context, rank, trace);
  });
}

}  // namespace

extern const Pass kThroughputPass;
const Pass kThroughputPass{"throughput", Run, {}, PassScope::kRank};

}  // namespace tutti::analyzer
