// How long each step waits for its input, and what the loaders behind it can deliver.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analyzer/input/step_index.h"
#include "analyzer/metrics/breakdown.h"
#include "analyzer/metrics/percentile.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

struct Wait {
  Interval interval;
  bool is_open = false;
  std::string loader;
  std::optional<int64_t> queue_depth;
};

// Waits of training threads. Those of two conventions that mark the same wait are one:
// the inner of two nested waits on a thread is left out.
Result<std::vector<Wait>> ReadWaits(RankTrace& trace, const std::set<int64_t>& training) {
  TUTTI_ASSIGN_OR_RETURN(const auto rows, trace.DataWaits());
  std::vector<Wait> waits;
  std::map<int64_t, int64_t> covered_until;  // by thread
  std::vector<const schema::DataWaitRow*> sorted;
  for (const schema::DataWaitRow& row : rows) {
    if (training.contains(row.tid)) sorted.push_back(&row);
  }
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto* a, const auto* b) {
    if (a->begin_ns != b->begin_ns) return a->begin_ns < b->begin_ns;
    return a->end_ns.value_or(trace.end_ns()) > b->end_ns.value_or(trace.end_ns());
  });
  for (const schema::DataWaitRow* row : sorted) {
    const int64_t end_ns = row->end_ns.value_or(std::max(row->begin_ns, trace.end_ns()));
    const auto [until, is_first] = covered_until.emplace(row->tid, end_ns);
    if (!is_first) {
      if (end_ns <= until->second) continue;
      until->second = end_ns;
    }
    waits.push_back(
        {{row->begin_ns, end_ns}, !row->end_ns, trace.Text(row->loader_id), row->queue_depth});
  }
  return waits;
}

std::vector<schema::StepInputRow> InputOfSteps(const schema::RankRow& rank,
                                               const std::vector<Wait>& waits,
                                               const StepIndex& steps) {
  std::vector<Interval> intervals;
  for (const Wait& wait : waits) intervals.push_back(wait.interval);
  SortByBegin(intervals);
  const std::vector<int64_t> totals = TotalPerWindow(Union(intervals), steps.windows());
  std::map<int64_t, schema::StepInputRow> by_step;
  std::vector<int64_t> order(steps.steps().begin(), steps.steps().end());
  for (size_t i = 0; i < order.size(); ++i) {
    schema::StepInputRow& row = by_step[order[i]];
    row.rank = rank.rank;
    row.step = order[i];
    row.wait_ns = totals[i];
  }
  for (const Wait& wait : waits) {
    const std::optional<int64_t> step = steps.ByWindow(wait.interval.begin_ns);
    if (!step) continue;
    schema::StepInputRow& row = by_step[*step];
    ++row.waits;
    row.longest_ns = std::max(row.longest_ns, wait.interval.length_ns());
    if (!wait.queue_depth) continue;
    row.min_queue_depth =
        std::min(row.min_queue_depth.value_or(*wait.queue_depth), *wait.queue_depth);
  }
  std::vector<schema::StepInputRow> rows;
  for (const auto& [step, row] : by_step) {
    if (row.waits > 0 || row.wait_ns > 0) rows.push_back(row);
  }
  return rows;
}

// Who loads batches beside training, and how long one takes.
struct Workers {
  std::optional<int64_t> count;
  std::optional<int64_t> p50_load_ns;
};

Result<Workers> ReadWorkers(RankTrace& trace, const std::set<int64_t>& loaders) {
  TUTTI_ASSIGN_OR_RETURN(const auto phases, trace.Phases());
  std::vector<int64_t> load_ns;
  for (const schema::PhaseRow& phase : phases) {
    if (phase.phase == "data" && phase.end_ns && loaders.contains(phase.tid)) {
      load_ns.push_back(*phase.end_ns - phase.begin_ns);
    }
  }
  Workers workers;
  if (!loaders.empty()) workers.count = static_cast<int64_t>(loaders.size());
  workers.p50_load_ns = MedianOf(std::move(load_ns));
  return workers;
}

std::vector<schema::LoaderRow> LoadersOf(const schema::RankRow& rank,
                                         const std::vector<Wait>& waits, const Workers& workers) {
  std::map<std::string, std::vector<const Wait*>> by_name;
  for (const Wait& wait : waits) {
    if (!wait.is_open) by_name[wait.loader].push_back(&wait);
  }
  std::vector<schema::LoaderRow> rows;
  for (const auto& [name, own] : by_name) {
    schema::LoaderRow row;
    row.rank = rank.rank;
    row.name = name;
    std::vector<int64_t> lengths;
    int64_t known = 0;
    int64_t empty = 0;
    for (const Wait* wait : own) {
      lengths.push_back(wait->interval.length_ns());
      row.wait_ns += lengths.back();
      known += wait->queue_depth ? 1 : 0;
      empty += wait->queue_depth == 0 ? 1 : 0;
    }
    row.waits = static_cast<int64_t>(own.size());
    row.p50_wait_ns = LowerNearestRank(lengths, 500);
    row.p99_wait_ns = LowerNearestRank(lengths, 990);
    if (known > 0) row.empty_queue_frac = static_cast<double>(empty) / static_cast<double>(known);
    row.workers = workers.count;
    row.p50_load_ns = workers.p50_load_ns;
    rows.push_back(std::move(row));
  }
  return rows;
}

schema::DataIssueRow OutsideOfSteps(const schema::RankRow& rank, int64_t waits, int64_t wait_ns) {
  schema::DataIssueRow issue;
  issue.severity = "notice";
  issue.name = "data_wait_outside_steps";
  issue.origin = "analysis";
  issue.source = "analyzer.data_wait";
  issue.rank = rank.rank;
  issue.count = waits;
  issue.detail = std::to_string(wait_ns / 1'000'000) +
                 " ms of waiting for data lie between the "
                 "marked steps and are not part of their breakdown";
  issue.advice = "begin the step before the batch is fetched";
  return issue;
}

Status DataWaitOfRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto windows, context.Read<schema::StepWindowRow>(
                                                 "WHERE rank = ?1 ORDER BY step", rank.rank));
  TUTTI_ASSIGN_OR_RETURN(const auto lanes,
                         context.Read<schema::LaneRow>("WHERE rank = ?1", rank.rank));
  std::set<int64_t> training;
  std::set<int64_t> loaders;
  for (const schema::LaneRow& lane : lanes) {
    if (lane.role == "loader") loaders.insert(lane.id);
    if (lane.kind == "thread" && (lane.role == "compute" || lane.role == "host")) {
      training.insert(lane.id);
    }
  }
  const StepIndex steps(windows);
  TUTTI_ASSIGN_OR_RETURN(const std::vector<Wait> waits, ReadWaits(trace, training));
  TUTTI_ASSIGN_OR_RETURN(const Workers workers, ReadWorkers(trace, loaders));
  TUTTI_RETURN_IF_ERROR(context.Write(InputOfSteps(rank, waits, steps)));
  TUTTI_RETURN_IF_ERROR(context.Write(LoadersOf(rank, waits, workers)));

  int64_t outside = 0;
  int64_t outside_ns = 0;
  for (const Wait& wait : waits) {
    const bool between = !steps.windows().empty() &&
                         wait.interval.begin_ns >= steps.windows().front().begin_ns &&
                         wait.interval.end_ns <= steps.windows().back().end_ns;
    if (!between || steps.ByWindow(wait.interval.begin_ns)) continue;
    ++outside;
    outside_ns += wait.interval.length_ns();
  }
  if (outside_ns < 1'000'000) return OkStatus();
  return context.AddIssue(OutsideOfSteps(rank, outside, outside_ns));
}

Status Run(RunContext& context) {
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return DataWaitOfRank(context, rank, trace);
  });
}

constexpr PassCheck kChecks[] = {
    {"input wait of the breakdown is part of all waiting for input",
     "SELECT count(*) FROM step_breakdown AS b LEFT JOIN step_input AS i USING (rank, step)"
     " WHERE b.input_wait_ns > coalesce(i.wait_ns, 0)"},
};

}  // namespace

extern const Pass kDataWaitPass;
const Pass kDataWaitPass{"data_wait", Run, kChecks, PassScope::kRank};

}  // namespace tutti::analyzer
