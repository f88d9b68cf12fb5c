// CUDA and HIP calls of the host by name: how many there are and how long they take.
#include <map>

#include "analyzer/input/step_index.h"
#include "analyzer/input/steps_that_count.h"
#include "analyzer/metrics/names.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

Status CountCalls(RunContext& context, const schema::RankRow& rank, RankTrace& trace,
                  const std::map<int64_t, size_t>& counted) {
  TUTTI_ASSIGN_OR_RETURN(const auto calls, trace.ApiCalls());
  if (calls.empty()) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const auto windows,
                         context.Read<schema::StepWindowRow>("WHERE rank = ?1", rank.rank));
  const StepIndex steps(windows);
  std::map<int64_t, schema::CallStatsRow> by_name;
  std::map<int64_t, int64_t> longest_ns;
  for (const ApiEvent& call : calls) {
    schema::CallStatsRow& row = by_name[call.name_id];
    const int64_t duration_ns = call.end_ns - call.begin_ns;
    ++row.count;
    row.total_ns += duration_ns;
    const std::optional<int64_t> step = steps.ByWindow(call.begin_ns);
    if (!step || !counted.contains(*step)) continue;
    ++row.in_steps_count;
    row.in_steps_ns += duration_ns;
    int64_t& longest = longest_ns[call.name_id];
    if (row.longest_id && duration_ns <= longest) continue;
    longest = duration_ns;
    row.longest_id = call.id;
  }
  std::vector<schema::CallStatsRow> rows;
  std::map<std::string, size_t> place;  // ids may share a text
  for (auto& [name_id, row] : by_name) {
    row.rank = rank.rank;
    row.name = trace.Text(name_id);
    row.blocks = IsBlockingCall(row.name) ? 1 : 0;
    if (place.emplace(row.name, rows.size()).second) rows.push_back(row);
  }
  return context.Write(rows);
}

Status Run(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const StepsThatCount counted, ReadStepsThatCount(context));
  const std::map<int64_t, size_t> places = counted.Places();
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return CountCalls(context, rank, trace, places);
  });
}

constexpr PassCheck kChecks[] = {
    {"calls in steps are among all calls",
     "SELECT count(*) FROM call_stats WHERE in_steps_count > count OR in_steps_ns > total_ns"},
};

}  // namespace

extern const Pass kCallsPass;
const Pass kCallsPass{"calls", Run, kChecks, PassScope::kRank};

}  // namespace tutti::analyzer
