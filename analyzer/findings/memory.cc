// Catalogue 38, 39 and 41: memory that runs out. These cost no time until they stop the job, so
// that their bound is 0 and they come last.
#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

constexpr double kNearlyFull = 0.9;
constexpr double kFragmented = 0.2;
constexpr int64_t kWorthMentioning = 64 << 20;
constexpr double kRising = 0.95;
constexpr double kLeastGrowth = 0.1;  // of what was allocated at first
constexpr int64_t kFewestSteps = 10;

constexpr std::array kKinds = {
    FindingKind{"near_oom",
                "Memory of a GPU is nearly full, or an allocation failed (catalogue 38).",
                "none: it costs nothing until allocations fail",
                "the allocator holds more than 90 % of the GPU's memory, or a failed allocation",
                "activation checkpointing, bf16, ZeRO or FSDP, a smaller batch with gradient "
                "accumulation"},
    FindingKind{"fragmentation",
                "Much of what the allocator holds lies unused in parts (catalogue 39).",
                "none: it costs nothing until allocations fail",
                "a fifth of the reserved memory or more, and at least 64 MiB, in a snapshot",
                "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or max_split_size_mb"},
    FindingKind{"memory_leak", "Allocated memory grows from step to step (catalogue 41).",
                "none: it costs nothing until allocations fail",
                "it rises between 95 % of all pairs of steps, by a tenth or more in all and at "
                "least 64 KiB, over ten steps or more",
                "don't keep tensors that have a graph: loss.item() or .detach() before adding to a "
                "list or a running sum"},
};

std::string MiB(int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

FindingDraft DraftAt(const FindingKind& kind, const FindingFacts& facts, int64_t rank) {
  CostOfSteps none;
  none.steps_seen = static_cast<int64_t>(facts.counted.steps.size());
  FindingDraft draft = DraftOf(kind, facts, none);
  draft.ranks = {rank};
  draft.row.cause = "memory";
  draft.row.advice = kind.advice;
  draft.row.share = 0;
  return draft;
}

// Of all ranks that show it one is drafted: that which shows it most.
template <typename Row, typename More>
const Row* Worst(const std::vector<Row>& rows, More more) {
  const auto worst = std::max_element(
      rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return more(a) < more(b); });
  return worst == rows.end() ? nullptr : &*worst;
}

Status FindNearOom(RunContext& context, const FindingFacts& facts,
                   std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(auto peaks, context.Read<schema::MemoryPeakRow>(
                                         "WHERE device_type <> 'cpu' ORDER BY rank, device_id"));
  TUTTI_ASSIGN_OR_RETURN(const auto trends,
                         context.Read<schema::MemoryTrendRow>("WHERE capacity_bytes > 0"));
  const auto fill = [&](const schema::MemoryPeakRow& peak) {
    for (const schema::MemoryTrendRow& trend : trends) {
      if (trend.rank != peak.rank || trend.device_id != peak.device_id) continue;
      return static_cast<double>(peak.peak_reserved_bytes.value_or(peak.peak_bytes)) /
             static_cast<double>(*trend.capacity_bytes);
    }
    return 0.0;
  };
  std::erase_if(peaks,
                [&](const auto& peak) { return peak.ooms == 0 && fill(peak) < kNearlyFull; });
  const auto* worst = Worst(
      peaks, [&](const auto& peak) { return fill(peak) + static_cast<double>(peak.ooms) * 10; });
  if (worst == nullptr) return OkStatus();
  FindingDraft draft = DraftAt(kKinds[0], facts, worst->rank);
  draft.row.title = "rank " + std::to_string(worst->rank) + " holds up to " +
                    MiB(worst->peak_reserved_bytes.value_or(worst->peak_bytes)) + " of GPU memory";
  if (fill(*worst) > 0) draft.row.title += ", " + Percent(fill(*worst)) + " of it";
  if (worst->ooms > 0) {
    draft.row.title += "; " + std::to_string(worst->ooms) + " allocations failed";
  }
  draft.evidence.push_back({0, 0, worst->rank, "memory_peak", worst->device_id, worst->peak_time_ns,
                            worst->peak_time_ns, "the peak"});
  drafts.push_back(std::move(draft));
  return OkStatus();
}

Status FindFragmentation(RunContext& context, const FindingFacts& facts,
                         std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(auto states,
                         context.Read<schema::MemoryStateRow>("ORDER BY rank, device_id"));
  std::erase_if(states, [](const schema::MemoryStateRow& state) {
    return state.inactive_split_bytes < kWorthMentioning ||
           static_cast<double>(state.inactive_split_bytes) <
               kFragmented * static_cast<double>(state.reserved_bytes);
  });
  const auto* worst = Worst(states, [](const auto& state) { return state.inactive_split_bytes; });
  if (worst == nullptr) return OkStatus();
  FindingDraft draft = DraftAt(kKinds[1], facts, worst->rank);
  draft.row.title = "rank " + std::to_string(worst->rank) + ": " +
                    MiB(worst->inactive_split_bytes) + " of " + MiB(worst->reserved_bytes) +
                    " that the allocator holds lie unused in " +
                    std::to_string(worst->inactive_split_blocks) + " parts, the largest " +
                    MiB(worst->largest_free_bytes);
  draft.evidence.push_back({0,
                            0,
                            worst->rank,
                            "memory_state",
                            worst->device_id,
                            {},
                            {},
                            "state of the allocator in the snapshot"});
  drafts.push_back(std::move(draft));
  return OkStatus();
}

Status FindLeak(RunContext& context, const FindingFacts& facts, std::vector<FindingDraft>& drafts) {
  constexpr int64_t kLeastBytes = 64 << 10;
  TUTTI_ASSIGN_OR_RETURN(
      auto trends, context.Read<schema::MemoryTrendRow>("ORDER BY rank, device_type, device_id"));
  std::erase_if(trends, [](const schema::MemoryTrendRow& trend) {
    const int64_t growth = trend.last_bytes - trend.first_bytes;
    return trend.steps < kFewestSteps || trend.rising_frac < kRising || growth < kLeastBytes ||
           static_cast<double>(growth) < kLeastGrowth * static_cast<double>(trend.first_bytes);
  });
  const auto* worst = Worst(trends, [](const auto& trend) { return trend.bytes_per_step; });
  if (worst == nullptr) return OkStatus();
  FindingDraft draft = DraftAt(kKinds[2], facts, worst->rank);
  draft.ranks.clear();
  for (const schema::MemoryTrendRow& trend : trends) {
    const bool leaks_alike = trend.device_type == worst->device_type &&
                             trend.bytes_per_step * 2 >= worst->bytes_per_step;
    const bool is_named = !draft.ranks.empty() && draft.ranks.back() == trend.rank;
    if (leaks_alike && !is_named) draft.ranks.push_back(trend.rank);
  }
  draft.row.title = "allocated " + worst->device_type + " memory of rank " +
                    std::to_string(worst->rank) + " grows by " +
                    std::to_string(std::llround(worst->bytes_per_step) / 1024) + " KiB a step";
  if (worst->capacity_bytes && worst->bytes_per_step >= 1) {
    const double left = static_cast<double>(*worst->capacity_bytes - worst->last_bytes);
    draft.row.title += "; in " + std::to_string(std::llround(left / worst->bytes_per_step)) +
                       " steps the GPU is full";
  }
  draft.evidence.push_back({0,
                            0,
                            worst->rank,
                            "memory_trend",
                            worst->device_id,
                            {},
                            {},
                            std::to_string(worst->first_bytes) + " bytes at the first step, " +
                                std::to_string(worst->last_bytes) + " at the last"});
  drafts.push_back(std::move(draft));
  return OkStatus();
}

Status FindMemory(RunContext& context, const FindingFacts& facts,
                  std::vector<FindingDraft>& drafts) {
  TUTTI_RETURN_IF_ERROR(FindNearOom(context, facts, drafts));
  TUTTI_RETURN_IF_ERROR(FindFragmentation(context, facts, drafts));
  return FindLeak(context, facts, drafts);
}

}  // namespace

extern const FindingRule kMemoryRule;
const FindingRule kMemoryRule{kKinds, FindMemory};

}  // namespace tutti::analyzer
