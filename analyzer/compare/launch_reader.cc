#include "analyzer/compare/launch_reader.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <unordered_map>

#include "schema/database.h"

namespace tutti::analyzer::compare {
namespace {

using schema::Database;
using schema::Statement;

// Calls `row(statement)` for each row of the query.
template <typename Function>
Status ForEachRow(Database& database, const std::string& sql, Function&& row) {
  TUTTI_ASSIGN_OR_RETURN(Statement statement, database.Prepare(sql));
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return OkStatus();
    TUTTI_RETURN_IF_ERROR(row(statement));
  }
}

// The steps of `launch` by their index in run_step.
using StepsByIndex = std::unordered_map<int64_t, StepRecord*>;

std::string BreakdownSql() {
  std::string sums;
  for (size_t part = 0; part < kBreakdownParts; ++part) {
    sums += ", coalesce(sum(b." + std::string(kParts[part]) + "_ns), 0)";
  }
  return "SELECT s.step, s.end_ns - s.begin_ns, s.step_period_ns, count(b.rank)," +
         std::string(
             " coalesce(max(b.input_wait_ns), 0),"
             " coalesce(max(b.step_ns - b.exposed_comm_wait_ns)"
             " - min(b.step_ns - b.exposed_comm_wait_ns), 0)") +
         sums +
         " FROM run_step AS s LEFT JOIN step_breakdown AS b ON b.step = s.step"
         " WHERE s.tag = 'train' AND s.is_partial = 0 GROUP BY s.step ORDER BY s.step";
}

Status ReadSteps(Database& database, Launch& launch) {
  return ForEachRow(database, BreakdownSql(), [&](const Statement& row) -> Status {
    StepRecord step;
    TUTTI_ASSIGN_OR_RETURN(step.step, row.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(step.length_ns, row.Get<int64_t>(1));
    TUTTI_ASSIGN_OR_RETURN(step.period_ns, row.Get<std::optional<int64_t>>(2));
    TUTTI_ASSIGN_OR_RETURN(step.ranks, row.Get<int64_t>(3));
    TUTTI_ASSIGN_OR_RETURN(step.longest_input_wait_ns, row.Get<int64_t>(4));
    TUTTI_ASSIGN_OR_RETURN(step.own_spread_ns, row.Get<int64_t>(5));
    for (size_t part = 0; part < kBreakdownParts; ++part) {
      TUTTI_ASSIGN_OR_RETURN(step.part_ns[part], row.Get<int64_t>(static_cast<int>(6 + part)));
    }
    launch.steps.push_back(step);
    return OkStatus();
  });
}

// One sum a step of another table, into a field of the step.
template <typename Field>
Status ReadStepSum(Database& database, const std::string& sql, const StepsByIndex& steps,
                   Field StepRecord::*field) {
  return ForEachRow(database, sql, [&](const Statement& row) -> Status {
    TUTTI_ASSIGN_OR_RETURN(const int64_t step, row.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const auto value, row.Get<std::optional<int64_t>>(1));
    const auto found = steps.find(step);
    if (found != steps.end() && value) found->second->*field = *value;
    return OkStatus();
  });
}

Status ReadStepSums(Database& database, Launch& launch) {
  StepsByIndex steps;
  for (StepRecord& step : launch.steps) steps.emplace(step.step, &step);
  TUTTI_RETURN_IF_ERROR(
      ReadStepSum(database, "SELECT step, sum(between_steps_ns) FROM step_window GROUP BY step",
                  steps, &StepRecord::between_ns));
  TUTTI_RETURN_IF_ERROR(ReadStepSum(database,
                                    "SELECT step, sum(comm_ns) FROM step_overlap GROUP BY step",
                                    steps, &StepRecord::comm_ns));
  TUTTI_RETURN_IF_ERROR(ReadStepSum(database,
                                    "SELECT step, sum(samples) FROM step_batch GROUP BY step",
                                    steps, &StepRecord::samples));
  return ReadStepSum(database, "SELECT step, sum(tokens) FROM step_batch GROUP BY step", steps,
                     &StepRecord::tokens);
}

std::string Joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (word.empty()) continue;
    if (!text.empty()) text += ", ";
    text += word;
  }
  return text;
}

Status ReadRanks(Database& database, Launch& launch) {
  std::set<std::string> hosts;
  std::set<std::string> kinds;
  TUTTI_RETURN_IF_ERROR(ForEachRow(
      database, "SELECT host, device_kind, begin_ns, end_ns, events_lost FROM rank ORDER BY rank",
      [&](const Statement& row) -> Status {
        TUTTI_ASSIGN_OR_RETURN(const std::string host, row.Get<std::string>(0));
        TUTTI_ASSIGN_OR_RETURN(const std::string kind, row.Get<std::string>(1));
        TUTTI_ASSIGN_OR_RETURN(const int64_t begin_ns, row.Get<int64_t>(2));
        TUTTI_ASSIGN_OR_RETURN(const int64_t end_ns, row.Get<int64_t>(3));
        TUTTI_ASSIGN_OR_RETURN(const int64_t lost, row.Get<int64_t>(4));
        hosts.insert(host);
        kinds.insert(kind);
        launch.begin_ns = std::min(launch.begin_ns.value_or(begin_ns), begin_ns);
        launch.end_ns = std::max(launch.end_ns.value_or(end_ns), end_ns);
        launch.events_lost += lost;
        ++launch.facts.ranks;
        return OkStatus();
      }));
  launch.facts.hosts = Joined(hosts);
  launch.facts.device_kind = Joined(kinds);
  return OkStatus();
}

Status ReadMeta(Database& database, Launch& launch) {
  int64_t expected = 0;
  TUTTI_RETURN_IF_ERROR(
      ForEachRow(database, "SELECT key, value FROM run_meta", [&](const Statement& row) -> Status {
        TUTTI_ASSIGN_OR_RETURN(const std::string key, row.Get<std::string>(0));
        TUTTI_ASSIGN_OR_RETURN(const std::string value, row.Get<std::string>(1));
        if (key == "run.workload") launch.facts.workload = value;
        if (key == "run.ranks_expected") expected = std::strtoll(value.c_str(), nullptr, 10);
        return OkStatus();
      }));
  launch.facts.ranks_expected = std::max(expected, launch.facts.ranks);
  launch.ranks_missing = launch.facts.ranks_expected - launch.facts.ranks;
  return ForEachRow(
      database, "SELECT max(peak_bytes) FROM memory_peak", [&](const Statement& row) -> Status {
        TUTTI_ASSIGN_OR_RETURN(launch.memory_peak_bytes, row.Get<std::optional<int64_t>>(0));
        return OkStatus();
      });
}

// Steps that the counts of op_stats are of, 0: only whole traces can be used.
Result<int64_t> SteadySteps(Database& database) {
  return database.QueryOne<int64_t>("SELECT count(*) FROM run_step WHERE is_steady = 1");
}

Status ReadNames(Database& database, const std::string& sql, double per, Launch& launch) {
  return ForEachRow(database, sql, [&](const Statement& row) -> Status {
    TUTTI_ASSIGN_OR_RETURN(const std::string kind, row.Get<std::string>(0));
    TUTTI_ASSIGN_OR_RETURN(const std::string name, row.Get<std::string>(1));
    TUTTI_ASSIGN_OR_RETURN(const int64_t count, row.Get<int64_t>(2));
    TUTTI_ASSIGN_OR_RETURN(const int64_t ns, row.Get<int64_t>(3));
    if (count == 0) return OkStatus();
    launch.names[{kind, name}] = {static_cast<double>(count) / per, static_cast<double>(ns) / per};
    return OkStatus();
  });
}

Status ReadOperators(Database& database, int64_t steady, Launch& launch) {
  const std::string columns =
      steady > 0 ? "sum(in_steps_count), sum(in_steps_self_ns)" : "sum(count), sum(self_ns)";
  const int64_t steps = steady > 0 ? steady : static_cast<int64_t>(launch.steps.size());
  const int64_t per = steps * launch.facts.ranks;
  if (per == 0) return OkStatus();
  return ReadNames(database,
                   "SELECT kind, name, " + columns +
                       " FROM op_stats WHERE kind IN ('kernel', 'memcpy', 'memset')"
                       " OR (kind IN ('operator', 'backward') AND on_compute = 1)"
                       " GROUP BY kind, name",
                   static_cast<double>(per), launch);
}

Status ReadCollectives(Database& database, int64_t steady, Launch& launch) {
  const int64_t steps = steady > 0 ? steady : static_cast<int64_t>(launch.steps.size());
  if (steps == 0) return OkStatus();
  const std::string which = steady > 0 ? "s.is_steady = 1" : "s.tag = 'train'";
  return ReadNames(database,
                   "SELECT 'collective', c.op || coalesce(' ' || c.dtype, '')"
                   " || coalesce(' ' || c.bytes || ' B', '')"
                   " || CASE WHEN c.ranks_expected > 0 THEN ' over ' || c.ranks_expected ||"
                   " ' ranks' ELSE '' END, count(*), sum(c.transfer_ns)"
                   " FROM collective AS c JOIN run_step AS s ON s.step = c.step WHERE " +
                       which + " AND c.transfer_ns IS NOT NULL GROUP BY 2",
                   static_cast<double>(steps), launch);
}

}  // namespace

Result<Launch> ReadLaunch(const std::string& analysis, const std::string& name) {
  Launch launch;
  launch.name = name;
  TUTTI_ASSIGN_OR_RETURN(Database database, Database::OpenReadOnly(analysis));
  TUTTI_RETURN_IF_ERROR(ReadSteps(database, launch));
  TUTTI_RETURN_IF_ERROR(ReadStepSums(database, launch));
  TUTTI_RETURN_IF_ERROR(ReadRanks(database, launch));
  TUTTI_RETURN_IF_ERROR(ReadMeta(database, launch));
  TUTTI_ASSIGN_OR_RETURN(const int64_t steady, SteadySteps(database));
  TUTTI_RETURN_IF_ERROR(ReadOperators(database, steady, launch));
  TUTTI_RETURN_IF_ERROR(ReadCollectives(database, steady, launch));
  return launch;
}

}  // namespace tutti::analyzer::compare
