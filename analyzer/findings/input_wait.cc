// Catalogue 1 to 3: steps wait for their input.
//
// Bound per step: the longest input wait of any rank. The others can't go on without
// it: they wait for that rank in their next collective, if not for their own loader.
// Few steps that stall for very long are told apart from a loader that is always late:
// their mean is no estimate with noise, and the cure is another one.
#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/findings/rule.h"
#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer {
namespace {

std::vector<double> LongestWaits(const FindingFacts& facts) {
  std::vector<double> longest;
  for (const StepParts& step : facts.breakdown) {
    int64_t wait_ns = 0;
    for (const auto& parts : step) {
      if (parts) wait_ns = std::max(wait_ns, parts->input_wait_ns);
    }
    longest.push_back(static_cast<double>(wait_ns));
  }
  return longest;
}

// Sum of input waits by rank, over the steps that `cost_per_step` charges.
std::vector<int64_t> WaitOfRanks(const FindingFacts& facts, std::span<const double> cost_per_step) {
  std::vector<int64_t> wait_ns(facts.ranks.size(), 0);
  for (size_t i = 0; i < facts.breakdown.size(); ++i) {
    if (cost_per_step[i] <= 0) continue;
    const StepParts& step = facts.breakdown[i];
    for (size_t rank = 0; rank < step.size(); ++rank) {
      if (step[rank]) wait_ns[rank] += step[rank]->input_wait_ns;
    }
  }
  return wait_ns;
}

// Ranks that wait at least half as long as the one that waits most.
std::vector<int64_t> RanksThatWait(const FindingFacts& facts,
                                   std::span<const double> cost_per_step) {
  const std::vector<int64_t> wait_ns = WaitOfRanks(facts, cost_per_step);
  const int64_t most = *std::max_element(wait_ns.begin(), wait_ns.end());
  std::vector<int64_t> ranks;
  for (size_t i = 0; i < wait_ns.size(); ++i) {
    if (wait_ns[i] * 2 >= most) ranks.push_back(facts.ranks[i].rank);
  }
  return ranks;
}

// The loader of a rank that is waited for longest.
Result<std::optional<schema::LoaderRow>> LoaderOf(RunContext& context, int64_t rank) {
  TUTTI_ASSIGN_OR_RETURN(
      const auto loaders,
      context.Read<schema::LoaderRow>("WHERE rank = ?1 ORDER BY wait_ns DESC, name LIMIT 1", rank));
  return loaders.empty() ? std::optional<schema::LoaderRow>() : loaders.front();
}

// PyTorch calls a loader by the class of its iterator, which tells whether it has workers.
std::string WorkersAdvice(std::string_view loader, int64_t factor) {
  const std::string times = std::to_string(factor);
  const std::string begin = "num_workers 0 -> " + times + ", so that workers load during the step";
  if (loader.find("SingleProcess") != std::string_view::npos) return begin;
  if (loader.find("MultiProcessing") != std::string_view::npos) {
    return "num_workers: up to " + times + " times as many, as the " +
           "workers do not keep up with the steps";
  }
  return begin + "; with workers already, up to " + times + " times as many";
}

std::string AdviceFor(const FindingFacts& facts, const std::optional<schema::LoaderRow>& loader,
                      const CostOfSteps& cost) {
  const int64_t busy_ns = std::max<int64_t>(facts.step_mean_ns - cost.cost_ns, 1);
  std::string advice;
  if (loader && loader->workers && loader->p50_load_ns) {
    const int64_t needed = (*loader->p50_load_ns + busy_ns - 1) / busy_ns;
    const int64_t workers = std::max(needed, *loader->workers + 1);
    advice = "num_workers " + std::to_string(*loader->workers) + " -> " + std::to_string(workers) +
             ": a batch takes " + Duration(*loader->p50_load_ns) +
             " to load, a step without the "
             "wait " +
             Duration(busy_ns);
  } else {
    // How many workers there are is not known: one more than the loader's time, in steps.
    const int64_t factor = std::max<int64_t>((facts.step_mean_ns + busy_ns - 1) / busy_ns, 2);
    advice = WorkersAdvice(loader ? loader->name : "", factor);
  }
  return advice + "; also prefetch_factor, persistent_workers, a faster or cached data set";
}

std::string TitleFor(const std::vector<int64_t>& ranks, size_t all_ranks, const CostOfSteps& cost,
                     const std::optional<schema::LoaderRow>& loader) {
  const bool everybody = ranks.size() == all_ranks && all_ranks > 1;
  std::string title = (everybody ? "all ranks" : RankList(ranks)) +
                      (ranks.size() == 1 ? " waits " : " wait ") + Duration(cost.cost_ns) +
                      " per step for input";
  if (ranks.size() < all_ranks)
    title += ", and the others wait for " + std::string(ranks.size() == 1 ? "it" : "them");
  if (loader && loader->empty_queue_frac && *loader->empty_queue_frac >= 0.5) {
    title += "; its queue was empty in " + Percent(*loader->empty_queue_frac) + " of the waits";
  }
  return title;
}

// Wait of a step from which on it stalls: far beyond what is usual in this run.
double StallThreshold(const FindingFacts& facts, std::span<const double> waits) {
  std::vector<double> sorted(waits.begin(), waits.end());
  std::vector<int64_t> step_ns;
  for (const schema::RunStepRow& step : facts.counted.steps) {
    step_ns.push_back(step.end_ns - step.begin_ns);
  }
  constexpr double kTimesTheUsualWait = 10;
  constexpr double kTimesTheUsualStep = 2;
  return std::max(
      kTimesTheUsualWait * LowerNearestRank(std::span<double>(sorted), 500),
      kTimesTheUsualStep * static_cast<double>(MedianOf(std::move(step_ns)).value_or(0)));
}

// Moves the waits of rare stalls out of `waits`. Nothing, unless there are at least two
// stalls in the run, warm-up included: the first batch of all is one of them, and one
// alone may be a hiccup of the machine.
Result<std::vector<double>> TakeStalls(RunContext& context, const FindingFacts& facts,
                                       std::vector<double>& waits) {
  constexpr size_t kRareIsOneIn = 5;
  std::vector<double> stalls(waits.size(), 0);
  if (waits.empty()) return stalls;
  const double threshold = StallThreshold(facts, waits);
  TUTTI_ASSIGN_OR_RETURN(
      const int64_t in_run,
      context.derived().QueryOne<int64_t>(
          "SELECT count(DISTINCT step) FROM step_breakdown WHERE input_wait_ns >= ?1", threshold));
  const auto is_stall = [&](double wait) { return wait >= threshold; };
  const auto count = static_cast<size_t>(std::count_if(waits.begin(), waits.end(), is_stall));
  if (in_run < 2 || count * kRareIsOneIn > waits.size()) return stalls;
  for (size_t i = 0; i < waits.size(); ++i) {
    if (is_stall(waits[i])) std::swap(stalls[i], waits[i]);
  }
  return stalls;
}

void AddEvidence(const FindingFacts& facts, double least_ns, FindingDraft& draft) {
  for (size_t i = 0; i < facts.breakdown.size() && draft.evidence.size() < 5; ++i) {
    for (size_t rank = 0; rank < facts.ranks.size(); ++rank) {
      const auto& parts = facts.breakdown[i][rank];
      if (!parts || static_cast<double>(parts->input_wait_ns) < least_ns) continue;
      draft.evidence.push_back(StepEvidence(facts, parts->step, parts->rank,
                                            Duration(parts->input_wait_ns) + " of input wait"));
      break;
    }
  }
}

// Catalogue 3. The stalls themselves are measured: only their share must be worth it.
void FindStalls(const FindingFacts& facts, std::span<const double> stalls,
                std::vector<FindingDraft>& drafts) {
  CostOfSteps cost = CostOver(facts, stalls);
  cost.noise_ns = 0;
  if (!IsWorthwhile(facts, cost)) return;
  int64_t count = 0;
  double longest_ns = 0;
  double shortest_ns = 0;
  for (const double stall : stalls) {
    if (stall <= 0) continue;
    ++count;
    longest_ns = std::max(longest_ns, stall);
    shortest_ns = shortest_ns > 0 ? std::min(shortest_ns, stall) : stall;
  }
  FindingDraft draft;
  draft.ranks = RanksThatWait(facts, stalls);
  draft.row.kind = "input_wait";
  draft.row.cause = "input_stall";
  draft.row.title = std::to_string(count) + " of " + std::to_string(stalls.size()) +
                    (count == 1 ? " steps waits " : " steps wait up to ") +
                    Duration(std::llround(longest_ns)) + " for input on " + RankList(draft.ranks) +
                    ", " + Duration(cost.cost_ns) + " per step; the others hardly wait";
  draft.row.formula =
      "sum of the longest step_breakdown.input_wait_ns of the steps that stall, "
      "over all steps";
  draft.row.advice =
      "where an epoch begins there, its workers are started anew: persistent_workers=True; "
      "else look at what the loader reads in these steps";
  SetCost(facts, cost, draft.row);
  draft.row.steps_seen = count;
  draft.row.reason = "the first batch of all waits as long, or these steps do alike";
  AddEvidence(facts, shortest_ns, draft);
  drafts.push_back(std::move(draft));
}

Status FindInputWait(RunContext& context, const FindingFacts& facts,
                     std::vector<FindingDraft>& drafts) {
  std::vector<double> waits = LongestWaits(facts);
  TUTTI_ASSIGN_OR_RETURN(const std::vector<double> stalls, TakeStalls(context, facts, waits));
  FindStalls(facts, stalls, drafts);
  const CostOfSteps cost = CostOver(facts, waits);
  const std::optional<int64_t> replayed_ns = facts.SavedBy("no-input-wait");
  if (!IsWorthwhile(facts, cost, replayed_ns)) return OkStatus();
  FindingDraft draft;
  draft.ranks = RanksThatWait(facts, waits);
  TUTTI_ASSIGN_OR_RETURN(const auto loader, LoaderOf(context, draft.ranks.front()));
  draft.row.kind = "input_wait";
  draft.row.title = TitleFor(draft.ranks, facts.ranks.size(), cost, loader);
  draft.row.cause = "input_wait";
  draft.row.formula = "mean over steps of the longest step_breakdown.input_wait_ns of any rank";
  draft.row.advice = AdviceFor(facts, loader, cost);
  draft.row.replayed_ns = replayed_ns;
  SetCost(facts, cost, draft.row);
  AddEvidence(facts, static_cast<double>(cost.cost_ns), draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

constexpr std::array kKinds = {
    FindingKind{"input_wait",
                "Steps wait for their input: a loader that is always late, too few workers, or "
                "stalls at the start of epochs (catalogue 1 to 3).",
                "mean over steps of the longest step_breakdown.input_wait_ns of any rank",
                "as above; stalls: at least two in the run, each ten usual waits and two steps "
                "long, so that one hiccup is none",
                "num_workers (the number is computed where the loader's threads are seen), "
                "prefetch_factor, persistent_workers, a faster or cached data set"},
};

}  // namespace

extern const FindingRule kInputWaitRule;
const FindingRule kInputWaitRule{kKinds, FindInputWait};

}  // namespace tutti::analyzer
