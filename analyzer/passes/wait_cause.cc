// Whom ranks wait for in collectives, and who is behind it.
#include "analyzer/metrics/wait_cause.h"

#include <map>
#include <tuple>
#include <vector>

#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

// Calls of the collectives in question, by collective.
struct Calls {
  std::vector<Waiting> members;
  std::vector<std::optional<int64_t>> steps;  // of each
};

Result<std::map<int64_t, Calls>> ReadCalls(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::CollectiveCallRow>(
                                              "WHERE collective_id IN (SELECT id FROM collective"
                                              " WHERE last_rank IS NOT NULL)"
                                              " AND wait_ns IS NOT NULL"
                                              " ORDER BY collective_id, rank"));
  std::map<int64_t, Calls> calls;
  for (const schema::CollectiveCallRow& row : rows) {
    Calls& of = calls[row.collective_id];
    of.members.push_back({row.rank, *row.wait_ns});
    of.steps.push_back(row.step);
  }
  return calls;
}

Status Run(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const auto collectives,
                         context.Read<schema::CollectiveRow>("WHERE last_rank IS NOT NULL AND"
                                                             " ready_ns IS NOT NULL"
                                                             " ORDER BY ready_ns, id"));
  TUTTI_ASSIGN_OR_RETURN(const auto calls, ReadCalls(context));
  WaitCauses causes;
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t>, int64_t> waits;
  for (const schema::CollectiveRow& collective : collectives) {
    const auto of = calls.find(collective.id);
    if (of == calls.end()) continue;
    std::map<int64_t, std::optional<int64_t>> step_of;
    for (size_t i = 0; i < of->second.members.size(); ++i) {
      step_of[of->second.members[i].rank] = of->second.steps[i];
    }
    for (const CausedWait& wait : causes.Add(*collective.last_rank, of->second.members)) {
      const std::optional<int64_t> step = step_of[wait.rank];
      if (step) waits[{*step, wait.rank, *collective.last_rank, wait.cause}] += wait.wait_ns;
    }
  }
  std::vector<schema::WaitCauseRow> rows;
  for (const auto& [key, wait_ns] : waits) {
    const auto& [step, rank, late, cause] = key;
    rows.push_back({step, rank, late, cause, wait_ns});
  }
  return context.Write(rows);
}

constexpr PassCheck kChecks[] = {
    {"causes add up to what a rank waits",
     "SELECT count(*) FROM (SELECT step, rank, sum(ns) AS difference_ns FROM"
     " (SELECT step, rank, wait_ns AS ns FROM wait_cause"
     " UNION ALL SELECT k.step, k.rank, -k.wait_ns FROM collective_call AS k"
     " JOIN collective AS c ON c.id = k.collective_id WHERE c.last_rank IS NOT NULL"
     " AND c.ready_ns IS NOT NULL AND k.rank <> c.last_rank AND k.step IS NOT NULL"
     " AND k.wait_ns IS NOT NULL)"
     " GROUP BY step, rank HAVING difference_ns <> 0)"},
};

}  // namespace

extern const Pass kWaitCausePass;
const Pass kWaitCausePass{"wait_cause", Run, kChecks};

}  // namespace tutti::analyzer
