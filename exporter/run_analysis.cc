#include "exporter/run_analysis.h"

#include <map>
#include <utility>

#include "schema/derived_rows.h"
#include "schema/reader.h"
#include "schema/trace_file.h"

namespace tutti::exporter {

Result<RunAnalysis> RunAnalysis::Open(const std::string& path) {
  TUTTI_ASSIGN_OR_RETURN(schema::Database database, schema::OpenRunFile(path));
  std::map<int64_t, Rank> ranks;  // by input file
  TUTTI_RETURN_IF_ERROR(
      schema::ForEach<schema::RankRow>(database, "", [&](const schema::RankRow& row) {
        ranks[row.input_file_id] = {row.rank, row.clock_offset_ns};
      }));
  std::vector<Used> used;
  TUTTI_RETURN_IF_ERROR(
      schema::ForEach<schema::InputFileRow>(database, "", [&](const schema::InputFileRow& row) {
        const auto rank = ranks.find(row.id);
        if (rank != ranks.end()) used.push_back({row.path, rank->second});
      }));
  return RunAnalysis(std::move(database), std::move(used));
}

std::optional<RunAnalysis::Rank> RunAnalysis::Find(const std::string& path) const {
  for (const Used& one : used_) {
    if (path == one.path || path.ends_with("/" + one.path)) return one.rank;
  }
  return std::nullopt;
}

}  // namespace tutti::exporter
