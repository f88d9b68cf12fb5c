// The steps of the job and the window of each on each rank: from markers, else inferred
// from optimizer runs, else from collectives that repeat, else the whole trace is one
// step; warm-up, partial, checkpoint and evaluation steps told from the rest.
#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analyzer/input/capture_gaps.h"
#include "analyzer/metrics/names.h"
#include "analyzer/metrics/percentile.h"
#include "analyzer/metrics/steady.h"
#include "analyzer/metrics/steps.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

// Ranges that could be steps are named up to this number.
constexpr size_t kMostOffered = 3;

struct RankSteps {
  int64_t rank = 0;
  std::string origin;
  size_t runs_per_step = 1;  // of optimizers, where steps are inferred from them
  int64_t uncovered = 0;     // steps that are left out because recording had stopped
  std::vector<HostStep> steps;
  std::vector<StepWindow> windows;
  std::vector<StepKey> keys;
  std::vector<StepMarker> candidates;  // ranges that repeat, where nothing else told the steps
  std::set<size_t> checkpoint;         // places in `windows`
  std::set<size_t> evaluation;
};

// Markers of the best convention, on the thread that has most of them: a step that two
// conventions or two threads mark must not count twice.
std::vector<HostStep> MarkedSteps(std::span<const schema::StepRow> rows, int64_t trace_end_ns,
                                  std::string& origin) {
  for (const char* convention : {"annotate", "profiler_step", "nvtx", "timeline"}) {
    std::map<int64_t, int64_t> count;  // by thread
    for (const schema::StepRow& row : rows) count[row.tid] += row.origin == convention ? 1 : 0;
    const auto most =
        std::max_element(count.begin(), count.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most == count.end() || most->second == 0) continue;
    origin = convention;
    std::vector<HostStep> steps;
    for (const schema::StepRow& row : rows) {
      if (row.origin != convention || row.tid != most->first) continue;
      const int64_t end_ns = row.end_ns.value_or(std::max(row.begin_ns, trace_end_ns));
      steps.push_back({row.number, {row.begin_ns, end_ns}, !row.end_ns});
    }
    return steps;
  }
  return {};
}

// Optimizer runs and begins of backward functions on training threads.
struct OptimizerEvidence {
  std::vector<OptimizerRun> optimizer;
  std::vector<BackwardBegin> backward;
};

Result<OptimizerEvidence> CollectOptimizer(RankTrace& trace) {
  OptimizerEvidence evidence;
  TUTTI_ASSIGN_OR_RETURN(const auto ops, trace.Ops());
  std::map<int64_t, bool> is_optimizer;
  for (const OpEvent& op : ops) {
    if (op.scope == kScopeBackward) evidence.backward.push_back({op.begin_ns, op.name_id});
    if (op.scope == kScopeFunction || op.scope == kScopeBackward || op.is_open) continue;
    const auto [known, is_new] = is_optimizer.emplace(op.name_id, false);
    if (is_new) known->second = IsOptimizerStep(trace.Text(op.name_id));
    if (known->second) evidence.optimizer.push_back({{op.begin_ns, op.end_ns}, op.name_id});
  }
  if (evidence.optimizer.empty()) {
    TUTTI_ASSIGN_OR_RETURN(const auto phases, trace.Phases());
    for (const schema::PhaseRow& phase : phases) {
      if (phase.phase == "optimizer" && phase.end_ns) {
        evidence.optimizer.push_back({{phase.begin_ns, *phase.end_ns}, 0});
      }
    }
  }
  std::sort(evidence.optimizer.begin(), evidence.optimizer.end(),
            [](const auto& a, const auto& b) { return a.time.begin_ns < b.time.begin_ns; });
  std::sort(evidence.backward.begin(), evidence.backward.end(),
            [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  return evidence;
}

Result<std::vector<HostStep>> CollectiveSteps(RankTrace& trace, int64_t capture_begin_ns) {
  TUTTI_ASSIGN_OR_RETURN(const auto calls, trace.Collectives());
  std::map<std::tuple<int64_t, std::string, int64_t>, int64_t> symbol_of;
  std::vector<int64_t> symbols;
  std::vector<Interval> intervals;
  for (const CollectiveEvent& call : calls) {
    if (!call.row.begin_ns || !call.row.end_ns) continue;
    const auto key =
        std::tuple(call.row.communicator_id.value_or(-1), call.op, call.row.bytes.value_or(-1));
    symbols.push_back(symbol_of.emplace(key, static_cast<int64_t>(symbol_of.size())).first->second);
    intervals.push_back({*call.row.begin_ns, *call.row.end_ns});
  }
  if (symbols.empty()) {  // no metadata: kernels whose names say that they communicate
    TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
    for (const DeviceEvent& event : events) {
      if (event.role != KernelRole::kCommunication) continue;
      symbols.push_back(event.name_id);
      intervals.push_back(event.time());
    }
  }
  return StepsFromCollectives(symbols, intervals, capture_begin_ns);
}

// Finished ranges of the user (NVTX and RecordFunction) by name.
Result<std::map<std::string, std::vector<Interval>>> UserRanges(RankTrace& trace) {
  std::map<std::string, std::vector<Interval>> ranges;
  TUTTI_ASSIGN_OR_RETURN(const auto ops, trace.Ops());
  for (const OpEvent& op : ops) {
    if (op.scope != kScopeUser || op.is_open) continue;
    ranges[trace.Text(op.name_id)].push_back({op.begin_ns, op.end_ns});
  }
  TUTTI_ASSIGN_OR_RETURN(const auto marks, trace.Ranges());
  for (const schema::RangeRow& mark : marks) {
    if (mark.kind == "mark" || !mark.end_ns) continue;
    ranges[trace.Text(mark.name_id)].push_back({mark.begin_ns, *mark.end_ns});
  }
  for (auto& [name, times] : ranges) SortByBegin(times);
  return ranges;
}

// The steps that the user's choice of a range gives.
Result<std::vector<HostStep>> RangeSteps(RankTrace& trace, const std::string& name) {
  std::vector<HostStep> steps;
  if (name.empty()) return steps;
  TUTTI_ASSIGN_OR_RETURN(const auto ranges, UserRanges(trace));
  const auto named = ranges.find(name);
  if (named == ranges.end()) return steps;
  for (const Interval& time : named->second) {
    if (!steps.empty() && time.begin_ns < steps.back().host.end_ns) continue;  // nested in it
    steps.push_back({static_cast<int64_t>(steps.size()), time, false});
  }
  return steps;
}

Status FindCandidates(RankTrace& trace, Interval capture, RankSteps& found) {
  TUTTI_ASSIGN_OR_RETURN(const auto ranges, UserRanges(trace));
  for (const auto& [name, times] : ranges) {
    if (const std::optional<StepMarker> marker = StepMarkerOf(name, times, capture)) {
      found.candidates.push_back(*marker);
    }
  }
  std::stable_sort(
      found.candidates.begin(), found.candidates.end(),
      [](const StepMarker& a, const StepMarker& b) { return a.covered_frac > b.covered_frac; });
  return OkStatus();
}

Status FindSteps(const schema::RankRow& rank, RankTrace& trace, const std::string& step_range,
                 RankSteps& found) {
  const Interval capture{rank.begin_ns, rank.end_ns};
  found.origin = "range";
  TUTTI_ASSIGN_OR_RETURN(found.steps, RangeSteps(trace, step_range));
  if (!found.steps.empty()) return OkStatus();
  if (!step_range.empty()) TUTTI_RETURN_IF_ERROR(FindCandidates(trace, capture, found));
  TUTTI_ASSIGN_OR_RETURN(const auto marks, trace.Steps());
  found.steps = MarkedSteps(marks, capture.end_ns, found.origin);
  if (!found.steps.empty()) return OkStatus();

  TUTTI_ASSIGN_OR_RETURN(const OptimizerEvidence evidence, CollectOptimizer(trace));
  found.origin = "inferred_optimizer";
  OptimizerSteps inferred =
      StepsFromOptimizer(evidence.optimizer, evidence.backward, capture.begin_ns);
  found.steps = std::move(inferred.steps);
  found.runs_per_step = inferred.runs_per_step;
  if (!found.steps.empty()) return OkStatus();

  found.origin = "inferred_collective";
  TUTTI_ASSIGN_OR_RETURN(found.steps, CollectiveSteps(trace, capture.begin_ns));
  if (!found.steps.empty()) return OkStatus();

  found.origin = "whole_trace";
  found.steps = {{0, capture, false}};
  found.candidates.clear();
  return FindCandidates(trace, capture, found);
}

// A profiler stops inside the call that ends its last step: what was launched after that is
// not in the trace. A last step without any launch, where others have some, is cut off.
void MarkThinLastStep(std::span<const LaunchedWork> work, RankSteps& found) {
  if (found.origin != "profiler_step" || found.steps.size() < 2) return;
  const auto launched_in = [&](const HostStep& step) {
    return std::any_of(work.begin(), work.end(), [&](const LaunchedWork& piece) {
      return piece.launch_ns >= step.host.begin_ns && piece.launch_ns < step.host.end_ns;
    });
  };
  if (launched_in(found.steps[found.steps.size() - 2]) && !launched_in(found.steps.back())) {
    found.steps.back().is_partial = true;
  }
}

Result<std::vector<LaunchedWork>> CollectWork(RankTrace& trace) {
  std::vector<LaunchedWork> work;
  TUTTI_ASSIGN_OR_RETURN(const auto calls, trace.Collectives());
  for (const CollectiveEvent& call : calls) {
    if (call.row.enqueue_ns && call.row.end_ns) {
      work.push_back({*call.row.enqueue_ns, *call.row.end_ns});
    }
  }
  TUTTI_ASSIGN_OR_RETURN(const auto api_calls, trace.ApiCalls());
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
  const bool any_launch = std::any_of(events.begin(), events.end(),
                                      [](const DeviceEvent& event) { return event.launch >= 0; });
  for (const DeviceEvent& event : events) {
    if (event.launch >= 0) {
      work.push_back({api_calls[static_cast<size_t>(event.launch)].begin_ns, event.end_ns});
    } else if (!any_launch) {  // no calls were recorded: when it runs is all that is known
      work.push_back({event.begin_ns, event.end_ns});
    }
  }
  std::sort(work.begin(), work.end(),
            [](const auto& a, const auto& b) { return a.launch_ns < b.launch_ns; });
  return work;
}

Status TagSteps(RankTrace& trace, RankSteps& found) {
  TUTTI_ASSIGN_OR_RETURN(const auto phases, trace.Phases());
  for (const schema::PhaseRow& phase : phases) {
    const bool is_checkpoint = phase.phase == "checkpoint";
    if (!is_checkpoint && phase.phase != "evaluation") continue;
    const auto after = std::upper_bound(
        found.windows.begin(), found.windows.end(), phase.begin_ns,
        [](int64_t t, const StepWindow& window) { return t < window.window.begin_ns; });
    if (after == found.windows.begin()) continue;
    const auto place = static_cast<size_t>(after - found.windows.begin()) - 1;
    if (phase.begin_ns >= found.windows[place].window.end_ns) continue;
    (is_checkpoint ? found.checkpoint : found.evaluation).insert(place);
  }
  return OkStatus();
}

// Steps that the program marked are where it says; others must not hold what nobody saw.
void LeaveOutGaps(std::span<const Interval> gaps, RankSteps& found) {
  if (found.origin == "whole_trace") {
    found.steps = StepsAroundGaps(gaps, found.steps.front().host);
  } else if (found.origin.starts_with("inferred")) {
    CutAtGaps(gaps, found.steps);
  }
}

// When recording stopped for want of room while the program went on. What is in the file
// from then on is not all that happened.
Result<std::optional<int64_t>> RecordingStopped(RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto stats, trace.Stats());
  std::optional<int64_t> stopped_ns;
  for (const schema::TraceStatRow& stat : stats) {
    if (stat.name != "max_size_reached" && stat.name != "spool_full") continue;
    if (!stat.begin_ns) continue;
    stopped_ns = std::min(stopped_ns.value_or(*stat.begin_ns), *stat.begin_ns);
  }
  return stopped_ns;
}

// A run without a whole step before that keeps its steps: better little than nothing.
Status DropUncovered(RankTrace& trace, RankSteps& found) {
  TUTTI_ASSIGN_OR_RETURN(const std::optional<int64_t> stopped_ns, RecordingStopped(trace));
  if (!stopped_ns || found.origin == "whole_trace") return OkStatus();
  const auto covered = std::find_if(found.steps.begin(), found.steps.end(), [&](const auto& step) {
    return step.host.end_ns > *stopped_ns;
  });
  if (covered == found.steps.begin()) return OkStatus();
  found.uncovered = found.steps.end() - covered;
  found.steps.erase(covered, found.steps.end());
  return OkStatus();
}

Result<RankSteps> StepsOfRank(const schema::RankRow& rank, RankTrace& trace,
                              const std::string& step_range) {
  RankSteps found;
  found.rank = rank.rank;
  TUTTI_RETURN_IF_ERROR(FindSteps(rank, trace, step_range, found));
  TUTTI_ASSIGN_OR_RETURN(const IntervalSet gaps, CaptureGaps(trace));
  LeaveOutGaps(gaps, found);
  TUTTI_RETURN_IF_ERROR(DropUncovered(trace, found));
  TUTTI_ASSIGN_OR_RETURN(const std::vector<LaunchedWork> work, CollectWork(trace));
  MarkThinLastStep(work, found);
  found.windows = BuildWindows(found.steps, work);
  ForgetGaps(gaps, found.windows);
  TUTTI_RETURN_IF_ERROR(TagSteps(trace, found));
  std::vector<int64_t> numbers;
  for (const HostStep& step : found.steps) numbers.push_back(step.number);
  found.keys = KeysOf(numbers);
  return found;
}

// The steps of the job out of those of its ranks.
using JobSteps = std::vector<schema::RunStepRow>;

JobSteps MergeSteps(const std::vector<RankSteps>& ranks, const std::map<StepKey, int64_t>& index) {
  JobSteps steps(index.size());
  for (const auto& [key, step] : index) {
    schema::RunStepRow& row = steps[static_cast<size_t>(step)];
    row.step = step;
    row.number = key.number;
    row.occurrence = key.occurrence;
    row.tag = "train";
  }
  for (const RankSteps& rank : ranks) {
    for (size_t i = 0; i < rank.windows.size(); ++i) {
      const StepWindow& window = rank.windows[i];
      schema::RunStepRow& row = steps[static_cast<size_t>(index.at(rank.keys[i]))];
      row.origin = rank.origin;
      row.begin_ns =
          row.ranks == 0 ? window.window.begin_ns : std::min(row.begin_ns, window.window.begin_ns);
      row.end_ns =
          row.ranks == 0 ? window.window.end_ns : std::max(row.end_ns, window.window.end_ns);
      ++row.ranks;
      if (window.step.is_partial) row.is_partial = 1;
      if (rank.checkpoint.contains(i)) row.tag = "checkpoint";
      if (rank.evaluation.contains(i) && row.tag == "train") row.tag = "evaluation";
    }
  }
  for (schema::RunStepRow& row : steps) {
    if (row.ranks < static_cast<int64_t>(ranks.size())) row.is_partial = 1;
  }
  return steps;
}

// On one clock: latest end minus that of the step before. On several: the median over
// ranks of the same on their own clocks. Unknown where a rank's capture had a gap between the two.
void SetPeriods(JobSteps& steps, const std::vector<RankSteps>& ranks,
                const std::map<StepKey, int64_t>& index, bool one_clock) {
  std::vector<std::vector<int64_t>> own(steps.size());
  std::set<size_t> after_gap;
  for (const RankSteps& rank : ranks) {
    for (size_t i = 1; i < rank.windows.size(); ++i) {
      const int64_t step = index.at(rank.keys[i]);
      if (!rank.windows[i].between_steps_ns) after_gap.insert(static_cast<size_t>(step));
      if (index.at(rank.keys[i - 1]) + 1 != step) continue;
      own[static_cast<size_t>(step)].push_back(rank.windows[i].window.end_ns -
                                               rank.windows[i - 1].window.end_ns);
    }
  }
  for (size_t i = 1; i < steps.size(); ++i) {
    if (after_gap.contains(i)) continue;
    steps[i].step_period_ns =
        one_clock ? std::optional(steps[i].end_ns - steps[i - 1].end_ns) : MedianOf(own[i]);
  }
}

// The leading training steps that are warm-up, and whether the rest is steady.
SteadyState MarkWarmUp(JobSteps& steps) {
  std::vector<schema::RunStepRow*> series;
  std::vector<int64_t> period_ns;
  for (schema::RunStepRow& row : steps) {
    if (row.is_partial == 1 || row.tag != "train") continue;
    series.push_back(&row);
    period_ns.push_back(row.step_period_ns.value_or(row.end_ns - row.begin_ns));
  }
  const SteadyState state = FindSteadyState(period_ns);
  for (size_t i = 0; i < state.warmup_steps; ++i) series[i]->is_warmup = 1;
  for (schema::RunStepRow& row : steps) {
    row.is_steady = row.tag == "train" && row.is_partial == 0 && row.is_warmup == 0 ? 1 : 0;
  }
  return state;
}

Status WriteWindows(RunContext& context, const std::vector<RankSteps>& ranks,
                    const std::map<StepKey, int64_t>& index) {
  std::vector<schema::StepWindowRow> rows;
  for (const RankSteps& rank : ranks) {
    for (size_t i = 0; i < rank.windows.size(); ++i) {
      const StepWindow& window = rank.windows[i];
      schema::StepWindowRow row;
      row.rank = rank.rank;
      row.step = index.at(rank.keys[i]);
      row.begin_ns = window.window.begin_ns;
      row.end_ns = window.window.end_ns;
      row.host_begin_ns = window.step.host.begin_ns;
      row.host_end_ns = window.step.host.end_ns;
      row.step_ns = window.window.length_ns();
      row.between_steps_ns = window.between_steps_ns;
      row.is_partial = window.step.is_partial ? 1 : 0;
      rows.push_back(row);
    }
  }
  return context.Write(rows);
}

schema::DataIssueRow Notice(const char* name, int64_t count, std::string detail,
                            std::string advice) {
  schema::DataIssueRow issue;
  issue.severity = "notice";
  issue.name = name;
  issue.origin = "analysis";
  issue.source = "analyzer.step_window";
  issue.count = count;
  issue.detail = std::move(detail);
  issue.advice = std::move(advice);
  return issue;
}

Status WriteUncovered(RunContext& context, const std::vector<RankSteps>& ranks) {
  int64_t most = 0;
  for (const RankSteps& rank : ranks) most = std::max(most, rank.uncovered);
  if (most == 0) return OkStatus();
  schema::DataIssueRow issue = Notice(
      "steps_not_recorded", most,
      std::to_string(most) +
          " steps or more came after recording had stopped for want of room; they don't count",
      "record with a larger --max-size or onto a larger disk, or fewer steps");
  issue.severity = "data_loss";
  return context.AddIssue(issue);
}

// Ranges that could be steps, offered and not silently taken.
Status WriteCandidates(RunContext& context, const RankSteps& rank) {
  for (size_t i = 0; i < std::min(rank.candidates.size(), kMostOffered); ++i) {
    const StepMarker& marker = rank.candidates[i];
    TUTTI_RETURN_IF_ERROR(context.AddIssue(Notice(
        "step_marker_candidate", marker.count,
        "range \"" + marker.name + "\" repeats " + std::to_string(marker.count) + " times, " +
            std::to_string(marker.median_ns / 1000) + " us each: it may mark the steps",
        "if it does: --step-range \"" + marker.name + "\"")));
  }
  return OkStatus();
}

Status WriteNotices(RunContext& context, const std::vector<RankSteps>& ranks,
                    const SteadyState& state) {
  const char* const mark_steps = "mark steps with tutti_step_begin/tutti_step_end (annotate.h)";
  const std::string& origin = ranks.front().origin;
  const auto count = static_cast<int64_t>(ranks.front().windows.size());
  const size_t runs = origin == "inferred_optimizer" ? ranks.front().runs_per_step : 1;
  if (origin == "inferred_optimizer" || origin == "inferred_collective") {
    TUTTI_RETURN_IF_ERROR(context.AddIssue(Notice(
        "steps_inferred", count,
        std::string("no step markers: steps are inferred from ") +
            (origin == "inferred_optimizer" ? "the optimizer's runs" : "collectives that repeat") +
            (runs == 1 ? "" : ", " + std::to_string(runs) + " in turn to a step"),
        mark_steps)));
  } else if (origin == "whole_trace") {
    TUTTI_RETURN_IF_ERROR(
        context.AddIssue(Notice("steps_unknown", 1,
                                "no step markers and nothing that repeats: the whole trace is "
                                "taken as one step",
                                mark_steps)));
    TUTTI_RETURN_IF_ERROR(WriteCandidates(context, ranks.front()));
  }
  for (const RankSteps& rank : ranks) {
    if (rank.origin == origin) continue;
    TUTTI_RETURN_IF_ERROR(context.AddIssue(
        Notice("steps_differ", 1,
               "steps of rank " + std::to_string(rank.rank) + " come from " + rank.origin +
                   ", those of rank " + std::to_string(ranks.front().rank) + " from " + origin,
               mark_steps)));
  }
  if (!state.at_limit && !state.has_trend) return OkStatus();
  return context.AddIssue(Notice(
      "not_steady", static_cast<int64_t>(state.warmup_steps),
      state.has_trend ? "step time still drifts after warm-up: medians are of a moving target"
                      : "half of the steps look like warm-up: the run may not have settled",
      "record more steps"));
}

// The user named a range: steps that come from elsewhere would not be what was asked for.
Status CheckChosenRange(const std::string& step_range, const std::vector<RankSteps>& ranks) {
  if (step_range.empty()) return OkStatus();
  const auto is_from_range = [](const RankSteps& rank) { return rank.origin == "range"; };
  if (std::ranges::any_of(ranks, is_from_range)) return OkStatus();
  std::string others;
  const std::vector<StepMarker>& candidates = ranks.front().candidates;
  for (size_t i = 0; i < std::min(candidates.size(), kMostOffered); ++i) {
    others += (others.empty() ? "; these could be steps: \"" : ", \"") + candidates[i].name + "\"";
  }
  return UsageError("--step-range: no finished range is called \"" + step_range + "\" in this run" +
                    others);
}

Status Run(RunContext& context) {
  std::vector<RankSteps> ranks;
  std::set<int64_t> clocks;
  TUTTI_RETURN_IF_ERROR(context.ForEachRank([&](const schema::RankRow& rank,
                                                RankTrace& trace) -> Status {
    TUTTI_ASSIGN_OR_RETURN(RankSteps found, StepsOfRank(rank, trace, context.options().step_range));
    ranks.push_back(std::move(found));
    clocks.insert(rank.clock_domain);
    return OkStatus();
  }));
  TUTTI_RETURN_IF_ERROR(CheckChosenRange(context.options().step_range, ranks));
  std::vector<std::vector<StepKey>> keys;
  for (const RankSteps& rank : ranks) keys.push_back(rank.keys);
  const std::map<StepKey, int64_t> index = NumberSteps(keys);
  JobSteps steps = MergeSteps(ranks, index);
  SetPeriods(steps, ranks, index, clocks.size() == 1);
  const SteadyState state = MarkWarmUp(steps);
  TUTTI_RETURN_IF_ERROR(context.Write(steps));
  TUTTI_RETURN_IF_ERROR(WriteWindows(context, ranks, index));
  TUTTI_RETURN_IF_ERROR(WriteUncovered(context, ranks));
  return WriteNotices(context, ranks, state);
}

constexpr PassCheck kChecks[] = {
    {"windows of a rank do not overlap",
     "SELECT count(*) FROM step_window AS a JOIN step_window AS b"
     " ON b.rank = a.rank AND b.step = a.step + 1 WHERE b.begin_ns < a.end_ns"},
    {"windows and known gaps of a rank follow on one another",
     "SELECT count(*) FROM (SELECT between_steps_ns, begin_ns - lag(end_ns) OVER"
     " (PARTITION BY rank ORDER BY step) AS gap FROM step_window) WHERE between_steps_ns <> gap"},
    {"every step has a window",
     "SELECT count(*) FROM run_step WHERE step NOT IN (SELECT step FROM step_window)"},
};

}  // namespace

extern const Pass kStepWindowPass;
const Pass kStepWindowPass{"step_window", Run, kChecks};

}  // namespace tutti::analyzer
