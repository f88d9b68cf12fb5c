#include "analyzer/testing/shared_run.h"

#include <cstdio>
#include <limits>
#include <variant>
#include <vector>

namespace tutti::analyzer::testing {
namespace {

constexpr int64_t kSteps = 6;

TraceBuilder UnevenRank(int64_t rank, int64_t ranks) {
  TraceBuilder trace(rank, ranks, 1000);
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t t = step * 100;
    trace.Step(step, t, t + 90).Op("aten::mm", t, t + 40 + rank % 5 * 5).Batch(t, 8 + rank);
    trace.Op("aten::add", t + 60, t + 50);  // ends before it begins
    trace.Backward("MmBackward0", t + 41, t + 48 + rank % 5).DataWait(t + 85, t + 89);
    trace.DataWait(t + 92, t + 96);  // outside of steps
    trace.AllReduce(step, t + 30, t + 50 + rank % 5 * 5, t + 80, 4096)
        .Memory(t, 100, 100 * (step + 1 + rank));
  }
  if (rank % 2 == 1) trace.Lost(7 + rank, 100, 200);
  // Seen by the memory pass alone.
  if (rank % 3 == 1) trace.Memory(50, std::numeric_limits<int64_t>::max(), 100);
  return trace;
}

std::string Text(const schema::NullableValue& value) {
  if (!value) return "NULL";
  if (const auto* number = std::get_if<int64_t>(&*value)) return std::to_string(*number);
  if (const auto* text = std::get_if<std::string>(&*value)) return *text;
  char exact[32];
  std::snprintf(exact, sizeof(exact), "%a", std::get<double>(*value));
  return exact;
}

}  // namespace

UnevenRanks::UnevenRanks(int64_t ranks) {
  for (int64_t rank = 0; rank < ranks; ++rank) Add(UnevenRank(rank, ranks));
}

std::string DumpTables(schema::Database& derived) {
  std::string all;
  std::vector<std::string> tables;
  schema::Statement names =
      *derived.Prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  while (*names.Step()) tables.push_back(*names.Get<std::string>(0));
  for (const std::string& table : tables) {
    all += table + "\n";
    schema::Statement rows = *derived.Prepare(
        table == "pass_run" ? "SELECT ordinal, name, rows_written, checks FROM pass_run"
                            : "SELECT * FROM " + table);
    while (*rows.Step()) {
      for (int i = 0; i < rows.column_count(); ++i) all += Text(rows.GetAny(i)) + "|";
      all += "\n";
    }
  }
  return all;
}

}  // namespace tutti::analyzer::testing
