#include "collector/importers/kineto/finish_passes.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "collector/importers/kineto/span_stack.h"

namespace tutti::collector::importers::kineto {
namespace {

std::string List(const std::vector<int64_t>& numbers) {
  std::string list;
  for (const int64_t number : numbers) {
    list += (list.empty() ? "" : ", ") + std::to_string(number);
  }
  return list;
}

// A host call or a launch: its thread and when it began.
using Moment = std::pair<int64_t, int64_t>;

Result<std::unordered_set<int64_t>> CollectiveCorrelations(schema::Database& database) {
  TUTTI_ASSIGN_OR_RETURN(schema::Statement kernels,
                         database.Prepare("SELECT correlation_id FROM collective_source "
                                          "WHERE origin = 'kernel' AND correlation_id > 0"));
  std::unordered_set<int64_t> correlations;
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, kernels.Step());
    if (!found) return correlations;
    TUTTI_ASSIGN_OR_RETURN(const int64_t correlation, kernels.Get<int64_t>(0));
    correlations.insert(correlation);
  }
}

Result<std::map<Moment, int64_t>> LaunchesOf(schema::Database& database,
                                             const std::unordered_set<int64_t>& correlations) {
  TUTTI_ASSIGN_OR_RETURN(schema::Statement calls,
                         database.Prepare("SELECT tid, begin_ns, correlation_id FROM api_call"));
  std::map<Moment, int64_t> launches;
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, calls.Step());
    if (!found) return launches;
    TUTTI_ASSIGN_OR_RETURN(const int64_t correlation, calls.Get<int64_t>(2));
    if (!correlations.contains(correlation)) continue;
    TUTTI_ASSIGN_OR_RETURN(const int64_t tid, calls.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const int64_t begin_ns, calls.Get<int64_t>(1));
    launches.emplace(Moment(tid, begin_ns), correlation);
  }
}

// Row ids of host calls with the correlation of the first launch inside each.
Result<std::vector<std::pair<int64_t, int64_t>>> MatchCalls(schema::Database& database,
                                                            std::map<Moment, int64_t> launches) {
  TUTTI_ASSIGN_OR_RETURN(schema::Statement calls,
                         database.Prepare("SELECT id, tid, begin_ns, end_ns FROM collective_source "
                                          "WHERE origin = 'c10d' AND end_ns IS NOT NULL"));
  std::vector<std::pair<int64_t, int64_t>> links;
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, calls.Step());
    if (!found) return links;
    TUTTI_ASSIGN_OR_RETURN(const int64_t id, calls.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const int64_t tid, calls.Get<int64_t>(1));
    TUTTI_ASSIGN_OR_RETURN(const int64_t begin_ns, calls.Get<int64_t>(2));
    TUTTI_ASSIGN_OR_RETURN(const int64_t end_ns, calls.Get<int64_t>(3));
    const auto launch = launches.lower_bound({tid, begin_ns});
    if (launch == launches.end() || launch->first.first != tid || launch->first.second > end_ns) {
      continue;
    }
    links.emplace_back(id, launch->second);
    launches.erase(launch);  // one kernel, one call
  }
}

struct TimeColumn {
  const char* table;
  const char* column;
};
constexpr TimeColumn kTimeColumns[] = {
    {"step", "begin_ns"},
    {"step", "end_ns"},
    {"range", "begin_ns"},
    {"range", "end_ns"},
    {"gpu_range", "begin_ns"},
    {"gpu_range", "end_ns"},
    {"phase", "begin_ns"},
    {"phase", "end_ns"},
    {"cpu_op", "begin_ns"},
    {"cpu_op", "end_ns"},
    {"python_call", "begin_ns"},
    {"python_call", "end_ns"},
    {"api_call", "begin_ns"},
    {"api_call", "end_ns"},
    {"kernel", "begin_ns"},
    {"kernel", "end_ns"},
    {"memcpy", "begin_ns"},
    {"memcpy", "end_ns"},
    {"memset", "begin_ns"},
    {"memset", "end_ns"},
    {"sync", "begin_ns"},
    {"sync", "end_ns"},
    {"overhead", "begin_ns"},
    {"overhead", "end_ns"},
    {"flow", "begin_ns"},
    {"flow", "end_ns"},
    {"data_wait", "begin_ns"},
    {"data_wait", "end_ns"},
    {"memory_event", "time_ns"},
    {"counter_sample", "time_ns"},
    {"collective_source", "enqueue_ns"},
    {"collective_source", "begin_ns"},
    {"collective_source", "end_ns"},
};

}  // namespace

Status CorrectDepths(schema::Database& database, std::string_view table,
                     const std::vector<int64_t>& tids, std::string_view where) {
  if (tids.empty()) return OkStatus();
  const std::string name(table);
  // Ordered rows come out of a sorter that has read all of the table, so rows may be
  // changed while they are read.
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement spans,
      database.Prepare("SELECT id, tid, begin_ns, end_ns, depth FROM " + name + " WHERE tid IN (" +
                       List(tids) + ")" + (where.empty() ? "" : " AND " + std::string(where)) +
                       " ORDER BY tid, begin_ns, end_ns DESC, +id"));
  TUTTI_ASSIGN_OR_RETURN(schema::Statement update,
                         database.Prepare("UPDATE " + name + " SET depth = ?2 WHERE id = ?1"));
  SpanStack stack;
  std::optional<int64_t> last_tid;
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, spans.Step());
    if (!found) return OkStatus();
    TUTTI_ASSIGN_OR_RETURN(const int64_t id, spans.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const int64_t tid, spans.Get<int64_t>(1));
    TUTTI_ASSIGN_OR_RETURN(const int64_t begin_ns, spans.Get<int64_t>(2));
    TUTTI_ASSIGN_OR_RETURN(const auto end_ns, spans.Get<std::optional<int64_t>>(3));
    TUTTI_ASSIGN_OR_RETURN(const int64_t old_depth, spans.Get<int64_t>(4));
    if (last_tid != tid) stack = SpanStack();
    last_tid = tid;
    const int64_t depth = stack.Enter(begin_ns, end_ns);
    if (depth == old_depth) continue;
    TUTTI_RETURN_IF_ERROR(update.BindAll(id, depth));
    TUTTI_RETURN_IF_ERROR(update.Run());
  }
}

Status LinkCallsToKernels(schema::Database& database) {
  TUTTI_ASSIGN_OR_RETURN(const std::unordered_set<int64_t> correlations,
                         CollectiveCorrelations(database));
  TUTTI_ASSIGN_OR_RETURN(auto launches, LaunchesOf(database, correlations));
  TUTTI_ASSIGN_OR_RETURN(const auto links, MatchCalls(database, std::move(launches)));
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement update,
      database.Prepare("UPDATE collective_source SET correlation_id = ?2 WHERE id = ?1"));
  for (const auto& [id, correlation] : links) {
    TUTTI_RETURN_IF_ERROR(update.BindAll(id, correlation));
    TUTTI_RETURN_IF_ERROR(update.Run());
  }
  return OkStatus();
}

Status ShiftTimes(schema::Database& database, int64_t by_ns) {
  for (const TimeColumn& time : kTimeColumns) {
    const std::string column = time.column;
    TUTTI_ASSIGN_OR_RETURN(
        schema::Statement update,
        database.Prepare("UPDATE " + std::string(time.table) + " SET " + column + " = " + column +
                         " + ?1 WHERE " + column + " IS NOT NULL"));
    TUTTI_RETURN_IF_ERROR(update.BindAll(by_ns));
    TUTTI_RETURN_IF_ERROR(update.Run());
  }
  return OkStatus();
}

}  // namespace tutti::collector::importers::kineto
