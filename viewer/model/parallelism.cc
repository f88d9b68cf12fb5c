#include "viewer/model/parallelism.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "schema/database.h"
#include "schema/reader.h"

namespace tutti::viewer {
namespace {

constexpr std::array<const char*, 4> kKinds = {"pipeline", "tensor", "data", "expert"};

using Groups = std::vector<std::vector<int64_t>>;

Result<std::map<int64_t, std::vector<int64_t>>> ReadMembers(schema::Database& database) {
  std::map<int64_t, std::vector<int64_t>> members;
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::RunCommunicatorMemberRow>(
      database, "ORDER BY communicator_id, rank", [&](const schema::RunCommunicatorMemberRow& row) {
        members[row.communicator_id].push_back(row.rank);
      }));
  return members;
}

}  // namespace

std::vector<std::vector<int64_t>> MergeGroups(Groups groups) {
  Groups merged;
  for (std::vector<int64_t>& group : groups) {
    std::sort(group.begin(), group.end());
    for (size_t i = merged.size(); i-- > 0;) {
      std::vector<int64_t> both;
      std::set_union(group.begin(), group.end(), merged[i].begin(), merged[i].end(),
                     std::back_inserter(both));
      if (both.size() == group.size() + merged[i].size()) continue;
      group = std::move(both);
      merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (!group.empty()) merged.push_back(std::move(group));
  }
  std::sort(merged.begin(), merged.end());
  return merged;
}

Result<Parallelism> ReadParallelism(const RunSummary& summary) {
  TUTTI_ASSIGN_OR_RETURN(schema::Database database,
                         schema::Database::OpenReadOnly(summary.analysis, {.quick_check = false}));
  TUTTI_ASSIGN_OR_RETURN(const auto members, ReadMembers(database));
  std::map<std::string, Groups> by_kind;
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::ParallelGroupRow>(
      database, "ORDER BY communicator_id", [&](const schema::ParallelGroupRow& row) {
        const auto found = members.find(row.communicator_id);
        if (found != members.end()) by_kind[row.kind].push_back(found->second);
      }));
  Parallelism parallelism;
  for (const char* name : kKinds) {
    ParallelKind kind{name, MergeGroups(std::move(by_kind[name]))};
    const bool is_pipeline = kind.name == "pipeline" && !kind.groups.empty();
    if (kind.groups.size() > 1 || is_pipeline) parallelism.kinds.push_back(std::move(kind));
  }
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::PipelineStepRow>(
      database, "", [&](const schema::PipelineStepRow& row) {
        PipelineStage& stage = parallelism.stages[row.rank];
        stage.stage = row.stage;
        stage.step_ns += row.step_ns;
        stage.bubble_ns += row.bubble_ns;
      }));
  return parallelism;
}

}  // namespace tutti::viewer
