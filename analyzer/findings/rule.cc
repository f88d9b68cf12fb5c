#include "analyzer/findings/rule.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "analyzer/metrics/straggler.h"

namespace tutti::analyzer {

Result<FindingFacts> ReadFindingFacts(RunContext& context) {
  FindingFacts facts;
  TUTTI_ASSIGN_OR_RETURN(facts.counted, ReadStepsThatCount(context));
  TUTTI_ASSIGN_OR_RETURN(facts.ranks, context.Ranks());
  TUTTI_ASSIGN_OR_RETURN(facts.stragglers, context.Read<schema::StragglerRow>("ORDER BY rank"));
  const std::map<int64_t, size_t> steps = facts.counted.Places();
  std::map<int64_t, size_t> ranks;
  for (const schema::RankRow& rank : facts.ranks) ranks.emplace(rank.rank, ranks.size());
  facts.breakdown.assign(steps.size(), StepParts(ranks.size()));
  int64_t total_ns = 0;
  int64_t count = 0;
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::StepBreakdownRow>(""));
  for (const schema::StepBreakdownRow& row : rows) {
    const auto step = steps.find(row.step);
    if (step == steps.end()) continue;
    facts.breakdown[step->second][ranks.at(row.rank)] = row;
    total_ns += row.step_ns;
    ++count;
  }
  TUTTI_ASSIGN_OR_RETURN(const auto windows, context.Read<schema::StepWindowRow>(""));
  for (const schema::StepWindowRow& row : windows) {
    if (steps.contains(row.step)) facts.windows.emplace(std::pair(row.step, row.rank), row);
  }
  facts.step_mean_ns = count == 0 ? 0 : total_ns / count;
  TUTTI_ASSIGN_OR_RETURN(const auto answers, context.Read<schema::WhatIfRow>(""));
  for (const schema::WhatIfRow& row : answers) facts.saved_ns[row.scenario] = row.saved_ns;
  return facts;
}

std::optional<int64_t> FindingFacts::SavedBy(const std::string& scenario) const {
  const auto found = saved_ns.find(scenario);
  if (found == saved_ns.end()) return std::nullopt;
  return std::max<int64_t>(found->second, 0);
}

bool FindingFacts::OnGpus() const {
  return std::any_of(ranks.begin(), ranks.end(),
                     [](const schema::RankRow& rank) { return rank.device_kind == "gpu"; });
}

bool IsClaimed(std::span<const FindingDraft> drafts, std::string_view cause) {
  return std::any_of(drafts.begin(), drafts.end(),
                     [&](const FindingDraft& draft) { return draft.row.cause == cause; });
}

FindingDraft DraftOf(const FindingKind& kind, const FindingFacts& facts, const CostOfSteps& cost) {
  FindingDraft draft;
  for (const schema::RankRow& rank : facts.ranks) draft.ranks.push_back(rank.rank);
  draft.row.kind = kind.kind;
  draft.row.formula = kind.formula;
  SetCost(facts, cost, draft.row);
  return draft;
}

CostOfSteps CostOver(const FindingFacts& facts, std::span<const double> cost_per_step) {
  CostOfSteps cost;
  if (cost_per_step.empty()) return cost;
  const double mean = std::accumulate(cost_per_step.begin(), cost_per_step.end(), 0.0) /
                      static_cast<double>(cost_per_step.size());
  cost.cost_ns = std::llround(mean);
  // Of fewer than five steps the noise is not known: they must all show it.
  const double least = *std::min_element(cost_per_step.begin(), cost_per_step.end());
  cost.noise_ns = std::llround(NoiseOfMean(cost_per_step).value_or(mean - least));
  const double threshold = kMinShare * static_cast<double>(facts.step_mean_ns);
  for (size_t i = 0; i < cost_per_step.size(); ++i) {
    if (cost_per_step[i] < threshold) continue;
    ++cost.steps_seen;
    cost.last_step = facts.counted.steps[i].step;
    if (!cost.first_step) cost.first_step = cost.last_step;
  }
  return cost;
}

namespace {

bool IsShareOfStep(const FindingFacts& facts, double share, int64_t ns) {
  return static_cast<double>(ns) >= share * static_cast<double>(facts.step_mean_ns);
}

}  // namespace

bool IsWorthwhile(const FindingFacts& facts, const CostOfSteps& cost,
                  std::optional<int64_t> replayed_ns) {
  if (facts.step_mean_ns <= 0 || cost.cost_ns <= cost.noise_ns) return false;
  if (!IsShareOfStep(facts, kMinShare, cost.cost_ns)) return false;
  const bool is_confirmed = replayed_ns && IsShareOfStep(facts, kMinShare, *replayed_ns);
  return !replayed_ns || is_confirmed || IsShareOfStep(facts, kMinShareAlone, cost.cost_ns);
}

void SetCost(const FindingFacts& facts, const CostOfSteps& cost, schema::FindingRow& row) {
  const auto steps = static_cast<int64_t>(facts.counted.steps.size());
  row.cost_ns = cost.cost_ns;
  row.share = facts.step_mean_ns == 0
                  ? 0
                  : static_cast<double>(cost.cost_ns) / static_cast<double>(facts.step_mean_ns);
  row.first_step = cost.first_step;
  row.last_step = cost.last_step;
  row.steps_seen = cost.steps_seen;
  const double reach =
      steps == 0 ? 0 : static_cast<double>(cost.steps_seen) / static_cast<double>(steps);
  row.confidence = steps >= 10 && reach >= 0.8 ? "high" : reach >= 0.4 ? "medium" : "low";
  row.reason = "seen in " + std::to_string(cost.steps_seen) + " of " + std::to_string(steps) +
               " steps; noise of the cost " + Duration(cost.noise_ns);
}

schema::FindingEvidenceRow StepEvidence(const FindingFacts& facts, int64_t step, int64_t rank,
                                        std::string note) {
  schema::FindingEvidenceRow row;
  row.rank = rank;
  row.source = "step_breakdown";
  row.row_id = step;
  const auto window = facts.windows.find({step, rank});
  if (window != facts.windows.end()) {
    row.begin_ns = window->second.begin_ns;
    row.end_ns = window->second.end_ns;
  }
  row.note = std::move(note);
  return row;
}

std::string RankList(std::span<const int64_t> ranks) {
  constexpr size_t kMost = 6;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  const size_t shown = ranks.size() <= kMost ? ranks.size() : kMost - 1;
  for (size_t i = 0; i < shown; ++i) {
    const bool is_last = i + 1 == ranks.size();
    text += (i == 0 ? "" : is_last ? " and " : ", ") + std::to_string(ranks[i]);
  }
  if (shown < ranks.size()) text += " and " + std::to_string(ranks.size() - shown) + " more";
  return text;
}

std::string Duration(int64_t ns) {
  struct Unit {
    double ns;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}};
  for (const Unit& unit : kUnits) {
    const double value = static_cast<double>(ns) / unit.ns;
    if (std::abs(value) < 0.9995) continue;
    const int decimals = std::abs(value) >= 99.95 ? 0 : std::abs(value) >= 9.995 ? 1 : 2;
    char text[48];
    std::snprintf(text, sizeof(text), "%.*f %s", decimals, value, unit.name);
    return text;
  }
  return std::to_string(ns) + " ns";
}

std::string Percent(double fraction) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f %%", fraction * 100);
  return text;
}

}  // namespace tutti::analyzer
