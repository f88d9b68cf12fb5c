// A finding of the catalogue: one rule, one file. A rule reads what passes wrote, and
// drafts findings; passes/findings.cc ranks and stores them.
//
// Cost. Every rule gives a bound in ns per step: the mean over the steps that count, so
// that cost times steps is time. It must exceed both kMinShare of the mean step and its
// own noise (NoiseOfMean of metrics/straggler.h), else there is no finding.
// No nanosecond is charged twice: what one rule takes, later ones leave out.
// Not thread-safe.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/input/steps_that_count.h"
#include "analyzer/metrics/percentile.h"
#include "analyzer/run_context.h"
#include "common/status.h"

namespace tutti::analyzer {

// Below 5 % of a step nobody changes a program for it, and the scheduler's noise on a
// shared machine reaches 2 to 3 %.
inline constexpr double kMinShare = 0.05;
// A bound of less than a tenth of a step, which is often little more than what jitter is worth,
// has to be confirmed by a replay, where there is one: it saves kMinShare, too.
inline constexpr double kMinShareAlone = 0.1;

struct FindingDraft {
  schema::FindingRow row;  // id, share: set when findings are ranked
  std::vector<int64_t> ranks;
  std::vector<schema::FindingEvidenceRow> evidence;  // finding_id, ordinal: set when stored
};

// Breakdown of one step: by place of the rank in FindingFacts::ranks; empty where the
// rank has no such step.
using StepParts = std::vector<std::optional<schema::StepBreakdownRow>>;

// What all rules look at, loaded once.
struct FindingFacts {
  StepsThatCount counted;
  std::vector<schema::RankRow> ranks;
  std::vector<StepParts> breakdown;  // by place of the step in counted.steps
  std::map<std::pair<int64_t, int64_t>, schema::StepWindowRow> windows;  // by (step, rank)
  std::vector<schema::StragglerRow> stragglers;
  int64_t step_mean_ns = 0;
  std::map<std::string, int64_t> saved_ns;  // what_if.saved_ns by scenario

  // What a replay without it saves per step, never negative; nothing if it was not asked.
  std::optional<int64_t> SavedBy(const std::string& scenario) const;
  bool OnGpus() const;
};
Result<FindingFacts> ReadFindingFacts(RunContext& context);

// Mean, noise and reach of a cost that is known for each step.
struct CostOfSteps {
  int64_t cost_ns = 0;
  int64_t noise_ns = 0;    // NoiseOfMean
  int64_t steps_seen = 0;  // steps that cost at least kMinShare of the mean step
  std::optional<int64_t> first_step;
  std::optional<int64_t> last_step;
};
CostOfSteps CostOver(const FindingFacts& facts, std::span<const double> cost_per_step);

// True if the cost is worth a finding. `replayed_ns`: what a replay without it saves.
bool IsWorthwhile(const FindingFacts& facts, const CostOfSteps& cost,
                  std::optional<int64_t> replayed_ns = std::nullopt);

// Sets cost, steps and confidence: high where most steps show it, low where few do.
void SetCost(const FindingFacts& facts, const CostOfSteps& cost, schema::FindingRow& row);

// Evidence that points at the window of a step on a rank.
schema::FindingEvidenceRow StepEvidence(const FindingFacts& facts, int64_t step, int64_t rank,
                                        std::string note);

// Evidence: the steps in which `cost_per_step` is largest, at most five, each on the rank for
// which `value(parts)` is largest; `what` says what that is.
template <typename Value>
void AddStepEvidence(const FindingFacts& facts, std::span<const double> cost_per_step, Value value,
                     const std::string& what, FindingDraft& draft);

// "rank 3", "ranks 1 and 4", "ranks 0, 2, 3 and 5 more".
std::string RankList(std::span<const int64_t> ranks);
// "8.31 ms" with three significant digits; "12.4 µs", "1.25 s".
std::string Duration(int64_t ns);
// "12.3 %" of 0.123.
std::string Percent(double fraction);

// Per step: the median over ranks of `value(parts)`.
template <typename Value>
std::vector<double> MedianPerStep(const FindingFacts& facts, Value value) {
  std::vector<double> medians;
  for (const StepParts& step : facts.breakdown) {
    std::vector<int64_t> values;
    for (const auto& parts : step) {
      if (parts) values.push_back(value(*parts));
    }
    medians.push_back(static_cast<double>(MedianOf(std::move(values)).value_or(0)));
  }
  return medians;
}

// Whether a draft so far has taken the time of a part of the breakdown.
bool IsClaimed(std::span<const FindingDraft> drafts, std::string_view cause);

// What there is to say about a kind of finding before any trace is seen: docs/findings.md is
// made of it.
struct FindingKind {
  std::string_view kind;       // FindingRow::kind
  std::string_view catalogue;  // which causes it covers
  std::string_view formula;    // of its bound per step; FindingRow::formula
  std::string_view threshold;  // from when on it is told, and why
  std::string_view advice;     // in general; with the values of a trace in FindingRow::advice
};

// A draft of this kind with formula and cost, and all ranks.
FindingDraft DraftOf(const FindingKind& kind, const FindingFacts& facts, const CostOfSteps& cost);

struct FindingRule {
  std::span<const FindingKind> kinds;  // that it may draft
  Status (*find)(RunContext& context, const FindingFacts& facts, std::vector<FindingDraft>& drafts);
};

// In the order in which they may claim time.
std::span<const FindingRule* const> AllFindingRules();

// Every kind that a rule may draft, in the same order.
std::vector<FindingKind> AllFindingKinds();
// Their names.
std::vector<std::string_view> AllFindingKindNames();

// docs/findings.md.
std::string FindingsDocument();

template <typename Value>
void AddStepEvidence(const FindingFacts& facts, std::span<const double> cost_per_step, Value value,
                     const std::string& what, FindingDraft& draft) {
  constexpr size_t kMost = 5;
  std::vector<size_t> places(cost_per_step.size());
  for (size_t i = 0; i < places.size(); ++i) places[i] = i;
  std::stable_sort(places.begin(), places.end(),
                   [&](size_t a, size_t b) { return cost_per_step[a] > cost_per_step[b]; });
  for (size_t i = 0; i < std::min(places.size(), kMost); ++i) {
    const schema::StepBreakdownRow* worst = nullptr;
    for (const auto& parts : facts.breakdown[places[i]]) {
      if (parts && (worst == nullptr || value(*parts) > value(*worst))) worst = &*parts;
    }
    if (worst == nullptr || cost_per_step[places[i]] <= 0) continue;
    draft.evidence.push_back(
        StepEvidence(facts, worst->step, worst->rank, Duration(value(*worst)) + " " + what));
  }
}

}  // namespace tutti::analyzer
