// Catalogue 11 and 12: memory is taken from the driver, and given back, in every step.
//
// Bound per step: the time in these calls, on the rank where it is longest. They block the
// host, and freeing waits for the device.
#include <algorithm>
#include <array>
#include <map>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

constexpr std::array kKinds = {
    FindingKind{"device_alloc_churn",
                "GPU memory is allocated from the driver and freed in every step (catalogue 11).",
                "largest over ranks of the time in cudaMalloc, cudaFree and their like in a step",
                "as above, with at least one such call a step",
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; no empty_cache() in the loop; "
                "shapes that don't change from step to step"},
    FindingKind{"pinned_alloc_churn",
                "Pinned host memory is allocated and freed in every step (catalogue 12).",
                "the same of cudaHostAlloc, cudaMallocHost, cudaFreeHost",
                "as above, with at least one such call a step",
                "reuse pinned buffers: the DataLoader's pin_memory=True keeps them"},
};

bool StartsWithAny(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool IsPinned(std::string_view name) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"cudaHostAlloc", "cudaMallocHost",
                                                         "cudaFreeHost",  "hipHostMalloc",
                                                         "hipHostFree",   "cuMemHostAlloc"};
  return StartsWithAny(name, kPrefixes);
}

bool IsDevice(std::string_view name) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"cudaMalloc", "cudaFree",   "hipMalloc",
                                                         "hipFree",    "cuMemAlloc", "cuMemFree"};
  // cudaMallocAsync and cudaFreeAsync don't go to the driver's allocator.
  return StartsWithAny(name, kPrefixes) && !IsPinned(name) &&
         name.find("Async") == std::string_view::npos;
}

struct Churn {
  int64_t calls = 0;
  int64_t ns = 0;
  const schema::CallStatsRow* longest = nullptr;
};

void Find(const FindingFacts& facts, const std::vector<schema::CallStatsRow>& calls,
          const FindingKind& kind, bool (*is_of_kind)(std::string_view),
          std::vector<FindingDraft>& drafts) {
  std::map<int64_t, Churn> by_rank;
  for (const schema::CallStatsRow& call : calls) {
    if (!is_of_kind(call.name)) continue;
    Churn& churn = by_rank[call.rank];
    churn.calls += call.in_steps_count;
    churn.ns += call.in_steps_ns;
    if (churn.longest == nullptr || call.in_steps_ns > churn.longest->in_steps_ns) {
      churn.longest = &call;
    }
  }
  const auto steps = static_cast<int64_t>(facts.counted.steps.size());
  const auto worst = std::max_element(by_rank.begin(), by_rank.end(),
                                      [](auto& a, auto& b) { return a.second.ns < b.second.ns; });
  if (worst == by_rank.end() || steps == 0 || worst->second.calls < steps) return;
  CostOfSteps cost;
  cost.cost_ns = worst->second.ns / steps;
  cost.steps_seen = steps;
  if (!IsWorthwhile(facts, cost)) return;
  FindingDraft draft = DraftOf(kind, facts, cost);
  draft.ranks.clear();
  for (const auto& [rank, churn] : by_rank) {
    if (churn.ns * 2 >= worst->second.ns) draft.ranks.push_back(rank);
  }
  const schema::CallStatsRow& longest = *worst->second.longest;
  draft.row.title =
      RankList(draft.ranks) + " allocates " + std::to_string(worst->second.calls / steps) +
      " times a step: " + Duration(cost.cost_ns) + " in " + longest.name + " and its like";
  draft.row.cause = "allocation";
  draft.row.advice = kind.advice;
  draft.evidence.push_back({0,
                            0,
                            longest.rank,
                            "api_call",
                            longest.longest_id,
                            {},
                            {},
                            "longest " + longest.name + " of the steps that count"});
  drafts.push_back(std::move(draft));
}

Status FindAllocations(RunContext& context, const FindingFacts& facts,
                       std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const auto calls, context.Read<schema::CallStatsRow>(
                                               "WHERE in_steps_count > 0 ORDER BY rank, name"));
  Find(facts, calls, kKinds[0], IsDevice, drafts);
  Find(facts, calls, kKinds[1], IsPinned, drafts);
  return OkStatus();
}

}  // namespace

extern const FindingRule kAllocationRule;
const FindingRule kAllocationRule{kKinds, FindAllocations};

}  // namespace tutti::analyzer
