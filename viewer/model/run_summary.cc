#include "viewer/model/run_summary.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "schema/database.h"
#include "schema/reader.h"

namespace tutti::viewer {
namespace {

namespace fs = std::filesystem;

struct KernelNameRow {
  std::string name = {};
  std::optional<std::string> category = {};
  TUTTI_ROW(KernelNameRow, "op_stats", name, category)
};

// Of times in files that may come from anywhere: their differences do not overflow.
constexpr int64_t kLimitNs = int64_t{1} << 61;

template <typename Row>
Status Fill(schema::Database& database, const std::string& suffix, std::vector<Row>* rows) {
  TUTTI_ASSIGN_OR_RETURN(*rows, schema::ReadAll<Row>(database, suffix));
  return OkStatus();
}

Status ReadRanks(schema::Database& database, const std::string& run, RunSummary* summary) {
  TUTTI_RETURN_IF_ERROR(Fill(database, "ORDER BY rank", &summary->ranks));
  std::error_code error;
  const fs::path folder =
      fs::is_directory(run, error) ? fs::path(run) : fs::path(run).parent_path();
  std::map<int64_t, std::string> paths;
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::InputFileRow>(
      database, "",
      [&](const schema::InputFileRow& file) { paths[file.id] = (folder / file.path).string(); }));
  summary->begin_ns = std::numeric_limits<int64_t>::max();
  summary->end_ns = std::numeric_limits<int64_t>::min();
  for (const schema::RankRow& rank : summary->ranks) {
    summary->traces.push_back(paths[rank.input_file_id]);
    const int64_t begin_ns = std::clamp(rank.begin_ns, -kLimitNs, kLimitNs);
    summary->begin_ns = std::min(summary->begin_ns, begin_ns);
    summary->end_ns = std::max({summary->end_ns, std::min(rank.end_ns, kLimitNs), begin_ns + 1});
  }
  if (summary->ranks.empty()) return BadDataError(summary->analysis + ": no rank in it");
  return OkStatus();
}

Status ReadFindings(schema::Database& database, RunSummary* summary) {
  std::map<int64_t, size_t> places;
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::FindingRow>(
      database, "ORDER BY id", [&](const schema::FindingRow& row) {
        places[row.id] = summary->findings.size();
        summary->findings.push_back({row, {}, {}});
      }));
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::FindingRankRow>(
      database, "ORDER BY finding_id, rank", [&](const schema::FindingRankRow& row) {
        if (const auto place = places.find(row.finding_id); place != places.end()) {
          summary->findings[place->second].ranks.push_back(row.rank);
        }
      }));
  return schema::ForEach<schema::FindingEvidenceRow>(
      database, "ORDER BY finding_id, ordinal", [&](const schema::FindingEvidenceRow& row) {
        if (const auto place = places.find(row.finding_id); place != places.end()) {
          summary->findings[place->second].evidence.push_back(row);
        }
      });
}

Status ReadCollectives(schema::Database& database, RunSummary* summary) {
  std::map<int64_t, size_t> places;
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::CollectiveRow>(
      database, "ORDER BY id", [&](const schema::CollectiveRow& row) {
        places[row.id] = summary->collectives.size();
        summary->collectives.push_back({row, {}});
      }));
  return schema::ForEach<schema::CollectiveCallRow>(
      database, "ORDER BY collective_id, rank", [&](const schema::CollectiveCallRow& call) {
        const auto place = places.find(call.collective_id);
        if (place == places.end()) return;
        std::vector<schema::CollectiveCallRow>& calls = summary->collectives[place->second].calls;
        summary->calls[{call.rank, call.source_id}] = {place->second, calls.size()};
        calls.push_back(call);
      });
}

Status ReadLanes(schema::Database& database, RunSummary* summary) {
  TUTTI_RETURN_IF_ERROR(
      schema::ForEach<schema::LaneRow>(database, "", [&](const schema::LaneRow& lane) {
        summary->lane_roles[{lane.rank, lane.device_id, lane.id}] = lane.role;
      }));
  return schema::ForEach<KernelNameRow>(
      database, "WHERE kind = 'kernel'", [&](const KernelNameRow& row) {
        summary->kernel_categories[row.name] = CategoryOfKernel(row.category.value_or(""));
      });
}

// Of rows in order of (rank, step).
template <typename Row>
const Row* Find(const std::vector<Row>& rows, int64_t rank, int64_t step) {
  const auto found = std::lower_bound(rows.begin(), rows.end(), std::pair(rank, step),
                                      [](const Row& row, const std::pair<int64_t, int64_t>& key) {
                                        return std::pair(row.rank, row.step) < key;
                                      });
  return found != rows.end() && found->rank == rank && found->step == step ? &*found : nullptr;
}

}  // namespace

std::array<int64_t, kStepParts.size()> PartsOf(const schema::StepBreakdownRow& row) {
  return {row.compute_ns,
          row.exposed_comm_transfer_ns,
          row.exposed_comm_wait_ns,
          row.exposed_comm_unsplit_ns,
          row.exposed_copy_ns,
          row.input_wait_ns,
          row.sync_ns,
          row.host_bound_ns,
          row.idle_ns};
}

int64_t RunSummary::EventsLost() const {
  int64_t lost = 0;
  for (const schema::RankRow& rank : ranks) lost += rank.events_lost;
  return lost;
}

std::optional<size_t> RunSummary::SlotOf(int64_t rank) const {
  const auto found =
      std::lower_bound(ranks.begin(), ranks.end(), rank,
                       [](const schema::RankRow& row, int64_t r) { return row.rank < r; });
  if (found == ranks.end() || found->rank != rank) return std::nullopt;
  return static_cast<size_t>(found - ranks.begin());
}

std::optional<size_t> RunSummary::PeerOf(size_t slot) const {
  if (!has_two_runs()) return std::nullopt;
  return SlotOf(ranks[slot].rank + (IsOfB(slot) ? -kFirstRankOfB : kFirstRankOfB));
}

std::string RunSummary::RankName(int64_t rank) const {
  if (!has_two_runs()) return "rank " + std::to_string(rank);
  return rank >= kFirstRankOfB ? "B rank " + std::to_string(rank - kFirstRankOfB)
                               : "A rank " + std::to_string(rank);
}

std::optional<int64_t> RunSummary::StepNumbered(int64_t number) const {
  for (const schema::RunStepRow& step : steps) {
    if (step.number == number) return step.step;
  }
  return std::nullopt;
}

const schema::StepWindowRow* RunSummary::FindWindow(int64_t rank, int64_t step) const {
  return Find(windows, rank, step);
}

const schema::StepBreakdownRow* RunSummary::FindBreakdown(int64_t rank, int64_t step) const {
  return Find(breakdowns, rank, step);
}

const Collective* RunSummary::FindCollective(int64_t rank, int64_t source_id) const {
  const auto found = calls.find({rank, source_id});
  return found == calls.end() ? nullptr : &collectives[found->second.first];
}

const schema::CollectiveCallRow* RunSummary::FindCall(int64_t rank, int64_t source_id) const {
  const auto found = calls.find({rank, source_id});
  if (found == calls.end()) return nullptr;
  return &collectives[found->second.first].calls[found->second.second];
}

Result<RunSummary> ReadRunSummary(const std::string& analysis, const std::string& run) {
  TUTTI_ASSIGN_OR_RETURN(schema::Database database,
                         schema::Database::OpenReadOnly(analysis, {.quick_check = false}));
  RunSummary summary;
  summary.run = run;
  summary.title = run;
  summary.analysis = analysis;
  TUTTI_RETURN_IF_ERROR(ReadRanks(database, run, &summary));
  TUTTI_RETURN_IF_ERROR(Fill(database, "ORDER BY step", &summary.steps));
  TUTTI_RETURN_IF_ERROR(Fill(database, "ORDER BY rank, step", &summary.windows));
  TUTTI_RETURN_IF_ERROR(Fill(database, "ORDER BY rank, step", &summary.breakdowns));
  TUTTI_RETURN_IF_ERROR(Fill(database, "ORDER BY id", &summary.issues));
  TUTTI_RETURN_IF_ERROR(ReadFindings(database, &summary));
  TUTTI_RETURN_IF_ERROR(Fill(database, "ORDER BY id", &summary.communicators));
  TUTTI_RETURN_IF_ERROR(ReadCollectives(database, &summary));
  TUTTI_RETURN_IF_ERROR(ReadLanes(database, &summary));
  return summary;
}

}  // namespace tutti::viewer
