// What the analyzer found out about a run, as the viewer shows it: ranks, steps, where their
// time goes, findings, collectives over ranks, what was lost. Read from run.sqlite in
// milliseconds, before any event. Times are aligned. A value; what the rows mean is said in
// schema/derived.sql.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "common/status.h"
#include "schema/derived_rows.h"
#include "viewer/model/category.h"
#include "viewer/model/time_map.h"

namespace tutti::viewer {

// Parts of a step in the order of PartsOf.
inline constexpr std::array<const char*, 9> kStepParts = {
    "compute",    "transfer", "wait for ranks", "communication", "copy",
    "input wait", "sync",     "host-bound",     "idle"};
std::array<int64_t, kStepParts.size()> PartsOf(const schema::StepBreakdownRow& row);

struct Finding {
  schema::FindingRow row;
  std::vector<int64_t> ranks;
  std::vector<schema::FindingEvidenceRow> evidence;  // the most telling first
};

struct Collective {
  schema::CollectiveRow row;
  std::vector<schema::CollectiveCallRow> calls;  // by rank
};

// Ranks of the second of two runs (model/two_runs.h) have numbers from here on.
inline constexpr int64_t kFirstRankOfB = 1'000'000'000;

struct RunSummary {
  std::string run;       // what was opened: a run's folder or a trace
  std::string title;     // what the user called it
  std::string analysis;  // path of the derived tables
  std::vector<schema::RankRow> ranks;
  std::vector<std::string> traces;  // path of each rank's trace
  std::vector<schema::RunStepRow> steps;
  std::vector<schema::StepWindowRow> windows;  // by rank, then step
  std::vector<schema::StepBreakdownRow> breakdowns;
  std::vector<schema::DataIssueRow> issues;
  std::vector<Finding> findings;
  std::vector<schema::RunCommunicatorRow> communicators;
  std::vector<Collective> collectives;  // by id
  std::map<std::string, Category, std::less<>> kernel_categories;
  // (rank, device or -1, thread or stream) -> what it does
  std::map<std::tuple<int64_t, int64_t, int64_t>, std::string> lane_roles;
  int64_t begin_ns = 0;  // of all ranks
  int64_t end_ns = 0;

  int64_t EventsLost() const;
  // Place of a rank in `ranks`.
  std::optional<size_t> SlotOf(int64_t rank) const;
  // The first step that the program numbered so.
  std::optional<int64_t> StepNumbered(int64_t number) const;
  const schema::StepWindowRow* FindWindow(int64_t rank, int64_t step) const;
  const schema::StepBreakdownRow* FindBreakdown(int64_t rank, int64_t step) const;
  // The collective that a rank's call belongs to, nullptr none.
  const Collective* FindCollective(int64_t rank, int64_t source_id) const;
  const schema::CollectiveCallRow* FindCall(int64_t rank, int64_t source_id) const;

  // Two runs: the place of run B's first rank, what B is called, and the runs' times on the axis.
  std::optional<size_t> first_slot_of_b;
  std::string title_b;
  TimeMap times_a;
  TimeMap times_b;
  bool has_two_runs() const { return first_slot_of_b.has_value(); }
  bool IsOfB(size_t slot) const { return first_slot_of_b && slot >= *first_slot_of_b; }
  const TimeMap& TimesOf(size_t slot) const { return IsOfB(slot) ? times_b : times_a; }
  // The same rank of the other run.
  std::optional<size_t> PeerOf(size_t slot) const;
  // "rank 3"; of two runs "A rank 3".
  std::string RankName(int64_t rank) const;

  // (rank, source_id) -> place in `collectives` and in its calls.
  std::map<std::pair<int64_t, int64_t>, std::pair<size_t, size_t>> calls;
};

// `analysis` is a file of derived tables; `run` the folder that its paths are relative to, or a
// file in that folder.
Result<RunSummary> ReadRunSummary(const std::string& analysis, const std::string& run);

}  // namespace tutti::viewer
