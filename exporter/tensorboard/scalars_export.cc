#include "exporter/tensorboard/scalars_export.h"

#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "exporter/tensorboard/event_file.h"
#include "schema/derived_rows.h"
#include "schema/reader.h"
#include "schema/step_parts.h"

namespace tutti::exporter::tensorboard {
namespace {

// Columns of every query: step, time, then one for each tag, named as it.
constexpr const char* kAxis =
    "CASE (SELECT max(occurrence) FROM run_step) WHEN 0 THEN s.number ELSE s.step END";

// "b.compute_ns / 1e6 AS "breakdown_ms/compute", …"; |around| is put around each column.
std::string Parts(const std::string& around) {
  std::string sql;
  for (const std::string_view name : schema::kStepParts) {
    const std::string part(name);
    sql += ", " + around + "(b." + part + "_ns) / 1e6 AS \"breakdown_ms/" + part + "\"";
  }
  return sql;
}

std::string RankSteps() {
  return "SELECT " + std::string(kAxis) + ", w.end_ns, w.step_ns / 1e6 AS \"step/time_ms\"" +
         Parts("") +
         ", (o.comm_ns - o.exposed_ns) * 1.0 / nullif(o.comm_ns, 0) AS \"overlap/frac\","
         " o.comm_ns / 1e6 AS \"overlap/comm_ms\", o.exposed_ns / 1e6 AS \"overlap/exposed_ms\","
         " t.samples * 1e9 / nullif(w.step_ns, 0) AS \"throughput/samples_per_s\","
         " t.tokens * 1e9 / nullif(w.step_ns, 0) AS \"throughput/tokens_per_s\""
         " FROM step_window AS w JOIN run_step AS s ON s.step = w.step"
         " LEFT JOIN step_breakdown AS b ON b.step = w.step AND b.rank = w.rank"
         " LEFT JOIN step_overlap AS o ON o.step = w.step AND o.rank = w.rank"
         " LEFT JOIN step_batch AS t ON t.step = w.step AND t.rank = w.rank"
         " WHERE w.rank = ?1 ORDER BY w.step";
}

std::string AllSteps() {
  return "SELECT " + std::string(kAxis) +
         ", s.end_ns, avg(w.step_ns) / 1e6 AS \"step/time_ms\","
         " s.step_period_ns / 1e6 AS \"step/period_ms\"" +
         Parts("avg") +
         ", (sum(o.comm_ns) - sum(o.exposed_ns)) * 1.0 / nullif(sum(o.comm_ns), 0)"
         " AS \"overlap/frac\","
         " sum(o.comm_ns) / 1e6 AS \"overlap/comm_ms\","
         " sum(o.exposed_ns) / 1e6 AS \"overlap/exposed_ms\","
         " sum(t.samples) * 1e9 / nullif(s.step_period_ns, 0) AS \"throughput/samples_per_s\","
         " sum(t.tokens) * 1e9 / nullif(s.step_period_ns, 0) AS \"throughput/tokens_per_s\""
         " FROM run_step AS s JOIN step_window AS w ON w.step = s.step"
         " LEFT JOIN step_breakdown AS b ON b.step = w.step AND b.rank = w.rank"
         " LEFT JOIN step_overlap AS o ON o.step = w.step AND o.rank = w.rank"
         " LEFT JOIN step_batch AS t ON t.step = w.step AND t.rank = w.rank"
         " WHERE ?1 IS NULL GROUP BY s.step ORDER BY s.step";
}

// Columns: step, device, bytes. ?1 is a rank, or NULL for the most of any.
constexpr const char* kMemory =
    "SELECT w.step, CASE WHEN m.device_id < 0 THEN m.device_type"
    " ELSE m.device_type || m.device_id END AS device, max(m.max_bytes)"
    " FROM step_window AS w JOIN memory_timeline AS m"
    " ON m.rank = w.rank AND m.begin_ns < w.end_ns AND m.end_ns > w.begin_ns"
    " WHERE w.rank = ?1 OR ?1 IS NULL GROUP BY w.step, device ORDER BY w.step, device";

using ValuesByStep = std::map<int64_t, std::map<std::string, double>>;

// By the axis' step; |axis| by dense step.
Result<ValuesByStep> ReadMemory(schema::Database& analysis, std::optional<int64_t> rank,
                                const std::map<int64_t, int64_t>& axis) {
  TUTTI_ASSIGN_OR_RETURN(schema::Statement rows, analysis.Prepare(kMemory));
  TUTTI_RETURN_IF_ERROR(rows.Bind(1, rank));
  ValuesByStep values;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return values;
    TUTTI_ASSIGN_OR_RETURN(const auto step, rows.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const auto device, rows.Get<std::string>(1));
    TUTTI_ASSIGN_OR_RETURN(const auto bytes, rows.Get<int64_t>(2));
    values[axis.at(step)]["memory/" + device + "_peak_bytes"] = static_cast<double>(bytes);
  }
}

std::optional<double> Number(const schema::NullableValue& value) {
  if (!value) return std::nullopt;
  if (const auto* integer = std::get_if<int64_t>(&*value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&*value)) return *real;
  return std::nullopt;
}

// What TensorBoard numbers each step with.
Result<std::map<int64_t, int64_t>> ReadAxis(schema::Database& analysis) {
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement rows,
      analysis.Prepare("SELECT s.step, " + std::string(kAxis) + " FROM run_step AS s"));
  std::map<int64_t, int64_t> axis;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return axis;
    TUTTI_ASSIGN_OR_RETURN(const auto step, rows.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(axis[step], rows.Get<int64_t>(1));
  }
}

// The steps of a rank, or of all. No file is made where there are none.
Result<std::optional<WrittenFile>> WriteRun(schema::Database& analysis, const std::string& sql,
                                            std::optional<int64_t> rank,
                                            const std::map<int64_t, int64_t>& axis,
                                            const std::string& folder, bool replace) {
  TUTTI_ASSIGN_OR_RETURN(const ValuesByStep memory, ReadMemory(analysis, rank, axis));
  TUTTI_ASSIGN_OR_RETURN(schema::Statement rows, analysis.Prepare(sql));
  TUTTI_RETURN_IF_ERROR(rows.Bind(1, rank));
  TUTTI_ASSIGN_OR_RETURN(bool more, rows.Step());
  if (!more) return std::optional<WrittenFile>();
  TUTTI_ASSIGN_OR_RETURN(EventFile file, EventFile::Create(folder, replace));
  std::vector<std::string> tags;
  for (int column = 2; column < rows.column_count(); ++column) {
    tags.push_back(rows.column_name(column));
  }
  while (more) {
    TUTTI_ASSIGN_OR_RETURN(const auto step, rows.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const auto wall_ns, rows.Get<int64_t>(1));
    std::vector<Scalar> scalars;
    for (size_t i = 0; i < tags.size(); ++i) {
      const auto value = Number(rows.GetAny(static_cast<int>(i) + 2));
      if (value) scalars.push_back({tags[i], *value});
    }
    if (const auto found = memory.find(step); found != memory.end()) {
      for (const auto& [tag, bytes] : found->second) scalars.push_back({tag, bytes});
    }
    file.Write(step, wall_ns, scalars);
    TUTTI_ASSIGN_OR_RETURN(more, rows.Step());
  }
  TUTTI_RETURN_IF_ERROR(file.Finish());
  return std::optional<WrittenFile>({file.path(), file.scalars()});
}

std::string RankFolder(int64_t rank) {
  std::array<char, 40> name{};
  std::snprintf(name.data(), name.size(), "rank-%05lld", static_cast<long long>(rank));
  return name.data();
}

}  // namespace

Result<std::vector<WrittenFile>> WriteScalars(schema::Database& analysis, const std::string& folder,
                                              bool replace) {
  TUTTI_ASSIGN_OR_RETURN(const auto axis, ReadAxis(analysis));
  std::vector<WrittenFile> files;
  TUTTI_ASSIGN_OR_RETURN(
      auto all, WriteRun(analysis, AllSteps(), std::nullopt, axis, folder + "/all-ranks", replace));
  if (all) files.push_back(std::move(*all));
  TUTTI_ASSIGN_OR_RETURN(const auto ranks,
                         schema::ReadAll<schema::RankRow>(analysis, "ORDER BY rank"));
  for (const schema::RankRow& rank : ranks) {
    TUTTI_ASSIGN_OR_RETURN(auto file, WriteRun(analysis, RankSteps(), rank.rank, axis,
                                               folder + "/" + RankFolder(rank.rank), replace));
    if (file) files.push_back(std::move(*file));
  }
  return files;
}

}  // namespace tutti::exporter::tensorboard
