#include "analyzer/input/counter_series.h"

#include <algorithm>

#include "schema/trace_file.h"

namespace tutti::analyzer {

Result<std::vector<CounterPoint>> ReadCounter(RunContext& context, const schema::RankRow& rank,
                                              const std::string& name) {
  const TraceFile& file = context.files().traces[static_cast<size_t>(rank.input_file_id)];
  TUTTI_ASSIGN_OR_RETURN(schema::Database database,
                         schema::OpenRankFile(file.path, {.quick_check = false}));
  TUTTI_ASSIGN_OR_RETURN(schema::Statement statement,
                         database.Prepare("SELECT s.time_ns, CAST(s.value AS REAL)"
                                          " FROM counter_sample AS s JOIN counter AS c"
                                          " ON c.id = s.counter_id WHERE c.name = ?1"
                                          " AND typeof(s.value) IN ('integer', 'real')"
                                          " ORDER BY s.time_ns"));
  TUTTI_RETURN_IF_ERROR(statement.BindAll(name));
  std::vector<CounterPoint> points;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return points;
    TUTTI_ASSIGN_OR_RETURN(const int64_t time_ns, statement.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const double value, statement.Get<double>(1));
    points.push_back({time_ns + rank.clock_offset_ns, value});
  }
}

double RateAt(const std::vector<CounterPoint>& points, int64_t time_ns) {
  if (points.size() < 2) return 0;
  auto after =
      std::upper_bound(points.begin() + 1, points.end() - 1, time_ns,
                       [](int64_t time, const auto& point) { return time < point.time_ns; });
  const CounterPoint& before = *(after - 1);
  const auto elapsed_ns = static_cast<double>(after->time_ns - before.time_ns);
  if (elapsed_ns <= 0) return 0;
  return std::max((after->value - before.value) / elapsed_ns * 1e9, 0.0);
}

}  // namespace tutti::analyzer
