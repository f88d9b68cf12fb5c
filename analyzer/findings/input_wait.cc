// Catalogue 1 and 2: steps wait for their input.
//
// Bound per step: the longest input wait of any rank. The others can't go on without
// it: they wait for that rank in their next collective, if not for their own loader.
#include <algorithm>
#include <cmath>

#include "analyzer/findings/rule.h"

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

// Sum of input waits by rank.
std::vector<int64_t> WaitOfRanks(const FindingFacts& facts) {
  std::vector<int64_t> wait_ns(facts.ranks.size(), 0);
  for (const StepParts& step : facts.breakdown) {
    for (size_t rank = 0; rank < step.size(); ++rank) {
      if (step[rank]) wait_ns[rank] += step[rank]->input_wait_ns;
    }
  }
  return wait_ns;
}

// Ranks that wait at least half as long as the one that waits most.
std::vector<int64_t> RanksThatWait(const FindingFacts& facts) {
  const std::vector<int64_t> wait_ns = WaitOfRanks(facts);
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
    char factor[32];
    std::snprintf(factor, sizeof(factor), "%.1f",
                  static_cast<double>(facts.step_mean_ns) / static_cast<double>(busy_ns));
    advice = std::string("raise num_workers by a factor of ") + factor +
             " or more (with 0, load in "
             "worker processes at all)";
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

}  // namespace

Status FindInputWait(RunContext& context, const FindingFacts& facts,
                     std::vector<FindingDraft>& drafts) {
  const CostOfSteps cost = CostOver(facts, LongestWaits(facts));
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  FindingDraft draft;
  draft.ranks = RanksThatWait(facts);
  TUTTI_ASSIGN_OR_RETURN(const auto loader, LoaderOf(context, draft.ranks.front()));
  draft.row.kind = "input_wait";
  draft.row.title = TitleFor(draft.ranks, facts.ranks.size(), cost, loader);
  draft.row.cause = "input_wait";
  draft.row.formula = "mean over steps of the longest step_breakdown.input_wait_ns of any rank";
  draft.row.advice = AdviceFor(facts, loader, cost);
  SetCost(facts, cost, draft.row);
  for (size_t i = 0; i < facts.breakdown.size() && draft.evidence.size() < 5; ++i) {
    for (size_t rank = 0; rank < facts.ranks.size(); ++rank) {
      const auto& parts = facts.breakdown[i][rank];
      if (!parts || parts->input_wait_ns < cost.cost_ns) continue;
      draft.evidence.push_back(StepEvidence(facts, parts->step, parts->rank,
                                            Duration(parts->input_wait_ns) + " of input wait"));
      break;
    }
  }
  drafts.push_back(std::move(draft));
  return OkStatus();
}

}  // namespace tutti::analyzer
