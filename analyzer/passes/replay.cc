// The steps replayed: their critical path over all ranks, and what they would take without
// what usually costs time.
#include "analyzer/replay/replay.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/metrics/percentile.h"
#include "analyzer/pass.h"
#include "common/parallel.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kMostNames = 64;
constexpr size_t kMostPieces = 10'000;

Status WritePathTotals(RunContext& context, const JobGraph& job,
                       const std::vector<PathPiece>& path) {
  std::map<std::tuple<uint32_t, uint32_t, TimeKind>, int64_t> totals;
  for (const PathPiece& piece : path) {
    const auto key = std::tuple(piece.share.step, piece.share.rank, piece.share.kind);
    totals[key] += piece.end_ns - piece.begin_ns;
  }
  std::vector<schema::CriticalPathRow> rows;
  for (const auto& [key, total_ns] : totals) {
    const auto& [step, rank, kind] = key;
    rows.push_back({job.steps[step].step, job.ranks[rank], std::string(NameOf(kind)), total_ns});
  }
  return context.Write(rows);
}

Status WritePathNames(RunContext& context, const JobGraph& job,
                      const std::vector<PathPiece>& path) {
  struct Total {
    int64_t ns = 0;
    int64_t count = 0;
  };
  std::map<std::tuple<uint32_t, TimeKind, uint32_t>, Total> totals;
  for (const PathPiece& piece : path) {
    if (!job.step_counts[piece.share.step] || piece.share.name == 0) continue;
    Total& total = totals[{piece.share.rank, piece.share.kind, piece.share.name}];
    total.ns += piece.end_ns - piece.begin_ns;
    ++total.count;
  }
  std::vector<schema::CriticalPathNameRow> rows;
  for (const auto& [key, total] : totals) {
    const auto& [rank, kind, name] = key;
    rows.push_back({job.ranks[rank], std::string(NameOf(kind)), job.names.texts()[name], total.ns,
                    total.count});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  if (rows.size() > kMostNames) rows.resize(kMostNames);
  return context.Write(rows);
}

// Place of the step of median length among those that count.
uint32_t MedianStep(const JobGraph& job, const ReplayedSteps& steps) {
  std::vector<int64_t> periods;
  for (size_t i = 0; i < steps.period_ns.size(); ++i) {
    if (job.step_counts[i]) periods.push_back(steps.period_ns[i]);
  }
  const std::optional<int64_t> median_ns = MedianOf(std::move(periods));
  for (uint32_t i = 0; i < steps.period_ns.size(); ++i) {
    if (job.step_counts[i] && steps.period_ns[i] == median_ns) return i;
  }
  return 0;
}

// Pieces of the same kind that follow one another are one.
Status WritePathPieces(RunContext& context, const JobGraph& job, const std::vector<PathPiece>& path,
                       uint32_t step) {
  std::vector<schema::CriticalPathPieceRow> rows;
  for (const PathPiece& piece : path) {
    if (piece.share.step != step) continue;
    schema::CriticalPathPieceRow row{static_cast<int64_t>(rows.size()),
                                     job.steps[step].step,
                                     job.ranks[piece.share.rank],
                                     std::string(NameOf(piece.share.kind)),
                                     job.names.texts()[piece.share.name],
                                     piece.begin_ns,
                                     piece.end_ns};
    const bool continues = !rows.empty() && rows.back().rank == row.rank &&
                           rows.back().part == row.part && rows.back().name == row.name;
    if (continues) {
      rows.back().end_ns = row.end_ns;
    } else if (rows.size() < kMostPieces) {
      rows.push_back(std::move(row));
    }
  }
  return context.Write(rows);
}

// Of ranks only those that are late by more than noise.
Result<std::vector<std::vector<std::string>>> Questions(RunContext& context, const JobGraph& job) {
  std::vector<std::vector<std::string>> questions = {
      {"no-input-wait"}, {"no-exposed-comm"}, {"bandwidth=2"}, {"no-copies"},         {"no-syncs"},
      {"launch=0"},      {"host=0.5"},        {"host=0"},      {"launch=0", "host=0"}};
  if (job.ranks.size() < 2) return questions;
  if (!job.gradients.steps.empty()) {
    for (const char* words : {"bucket-mb=1", "bucket-mb=5", "bucket-mb=25", "bucket-mb=100"}) {
      questions.push_back({words});
    }
  }
  questions.push_back({"no-stragglers"});
  TUTTI_ASSIGN_OR_RETURN(const auto late,
                         context.Read<schema::StragglerRow>(
                             "WHERE net_cost_ns > noise_ns ORDER BY net_cost_ns DESC LIMIT 8"));
  for (const schema::StragglerRow& row : late) {
    questions.push_back({"rank-at-median=" + std::to_string(row.rank)});
  }
  return questions;
}

Status WriteWhatIf(RunContext& context, const JobGraph& job, const Replay& replay,
                   int64_t unchanged_ns) {
  std::vector<schema::WhatIfRow> rows = {{"unchanged", unchanged_ns, 0}};
  TUTTI_ASSIGN_OR_RETURN(const auto questions, Questions(context, job));
  std::vector<Scenario> scenarios;
  for (const auto& words : questions) {
    TUTTI_ASSIGN_OR_RETURN(Scenario scenario, Scenario::Parse(words));
    scenarios.push_back(std::move(scenario));
  }
  std::vector<int64_t> step_ns(scenarios.size());
  ParallelFor(scenarios.size(), [&](size_t i) { step_ns[i] = replay.Run(scenarios[i]).step_ns; });
  for (size_t i = 0; i < scenarios.size(); ++i) {
    rows.push_back({scenarios[i].text, step_ns[i], unchanged_ns - step_ns[i]});
  }
  return context.Write(rows);
}

Status Run(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const JobGraph job, BuildJobGraph(context, {kMostRowsOfAnalysis}));
  if (job.steps.empty() || job.events.size() == 0) return OkStatus();
  const Replay replay(job);
  const ReplayedSteps unchanged = replay.Run(Scenario());
  const std::vector<PathPiece> path = replay.CriticalPath();
  TUTTI_RETURN_IF_ERROR(WritePathTotals(context, job, path));
  TUTTI_RETURN_IF_ERROR(WritePathNames(context, job, path));
  TUTTI_RETURN_IF_ERROR(WritePathPieces(context, job, path, MedianStep(job, unchanged)));
  TUTTI_RETURN_IF_ERROR(WriteWhatIf(context, job, replay, unchanged.step_ns));
  const int64_t counted = std::count(job.step_counts.begin(), job.step_counts.end(), true);
  return context.Write(
      std::vector<schema::RunMetricRow>{{"replay.steps", counted},
                                        {"replay.measured_ns", replay.Measured().step_ns},
                                        {"replay.unchanged_ns", unchanged.step_ns},
                                        {"replay.collectives_joined", job.collectives_joined},
                                        {"replay.collectives_alone", job.collectives_alone}});
}

constexpr PassCheck kChecks[] = {
    {"the pieces of a path follow one another",
     "SELECT count(*) FROM critical_path_piece AS a JOIN critical_path_piece AS b"
     " ON b.ordinal = a.ordinal + 1 WHERE b.begin_ns <> a.end_ns"},
};

}  // namespace

extern const Pass kReplayPass;
const Pass kReplayPass{"replay", Run, kChecks};

}  // namespace tutti::analyzer
