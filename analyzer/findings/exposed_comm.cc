// Catalogue 23 and 25: communication that nothing hides.
//
// comm_after_backward: gradients are communicated only when backward has ended, though
// the first of them were ready long before. Bound per step and rank: what of the exposed
// transfer the compute from the first gradient to the end of backward could hide,
//   min(exposed transfer, step_backward.compute_ns),
// the median over ranks.
// exposed_comm: the exposed transfer, if it is large. It is not told beside the first:
// how much is left to hide or to save shows when gradients overlap with backward.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analyzer/findings/rule.h"
#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer {
namespace {

// Exposed transfer is there in every data-parallel step: its last bucket has nothing
// left to hide behind. Below this share that is not worth a finding of its own.
constexpr double kMinExposedShare = 0.25;

// Share of the bytes that may be enqueued before backward ends (a metric, a counter).
constexpr double kMostBytesBefore = 0.1;

using Backwards = std::map<std::pair<int64_t, int64_t>, schema::StepBackwardRow>;

// One bucket of this size is full when backward ends, whoever enqueues it.
constexpr int64_t kWorthSplitting = 8 << 20;

bool IsAfterBackward(const schema::StepBackwardRow& row) {
  if (row.calls == 1 && row.bytes >= kWorthSplitting) return true;
  if (row.calls_after == 0) return false;
  const double before =
      row.bytes > 0
          ? static_cast<double>(row.bytes - row.bytes_after) / static_cast<double>(row.bytes)
          : static_cast<double>(row.calls - row.calls_after) / static_cast<double>(row.calls);
  return before <= kMostBytesBefore;
}

int64_t ExposedNs(const schema::StepBreakdownRow& parts) { return parts.exposed_comm_transfer_ns; }

void AddEvidence(const FindingFacts& facts, std::span<const double> cost_per_step,
                 FindingDraft& draft) {
  for (size_t i = 0; i < facts.breakdown.size() && draft.evidence.size() < 5; ++i) {
    if (std::llround(cost_per_step[i]) < *draft.row.cost_ns) continue;
    for (const auto& parts : facts.breakdown[i]) {
      if (!parts) continue;
      draft.evidence.push_back(StepEvidence(facts, parts->step, parts->rank,
                                            Duration(ExposedNs(*parts)) + " of exposed transfer"));
      break;
    }
  }
}

void AllRanks(const FindingFacts& facts, FindingDraft& draft) {
  for (const schema::RankRow& rank : facts.ranks) draft.ranks.push_back(rank.rank);
}

std::string MiB(int64_t bytes) {
  const int64_t mib = std::max<int64_t>((bytes + (1 << 20) - 1) >> 20, 1);
  return std::to_string(mib) + " MiB";
}

// The size that saves most as replayed; nothing where none was asked about.
struct BucketSize {
  int64_t mib = 0;
  int64_t saved_ns = 0;
};
std::optional<BucketSize> BestBucketSize(const FindingFacts& facts) {
  std::optional<BucketSize> best;
  for (const int64_t mib : {25, 5, 1}) {
    const auto saved_ns = facts.SavedBy("bucket-mb=" + std::to_string(mib));
    if (saved_ns && (!best || *saved_ns > best->saved_ns)) best = BucketSize{mib, *saved_ns};
  }
  return best;
}

// Payload of the only collective of each step; 0: there are several, or it is small.
int64_t SingleBucketBytes(const FindingFacts& facts, const Backwards& backwards) {
  const std::map<int64_t, size_t> counted = facts.counted.Places();
  int64_t bytes = 0;
  for (const auto& [key, row] : backwards) {
    if (!counted.contains(row.step)) continue;
    if (row.calls != 1) return 0;
    bytes = row.bytes;
  }
  return bytes >= kWorthSplitting ? bytes : 0;
}

Status FindAfterBackward(RunContext& context, const FindingFacts& facts,
                         std::vector<FindingDraft>& drafts) {
  Backwards backwards;
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::StepBackwardRow>(""));
  for (const schema::StepBackwardRow& row : rows) {
    backwards.emplace(std::pair(row.step, row.rank), row);
  }
  const std::vector<double> cost_per_step =
      MedianPerStep(facts, [&](const schema::StepBreakdownRow& parts) -> int64_t {
        const auto row = backwards.find({parts.step, parts.rank});
        if (row == backwards.end() || !IsAfterBackward(row->second)) return 0;
        return std::min(ExposedNs(parts), row->second.compute_ns);
      });
  const CostOfSteps cost = CostOver(facts, cost_per_step);
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  FindingDraft draft;
  AllRanks(facts, draft);
  const int64_t bucket_bytes = SingleBucketBytes(facts, backwards);
  draft.row.kind = bucket_bytes > 0 ? "single_bucket" : "comm_after_backward";
  draft.row.title = "gradients are communicated only after backward has ended; " +
                    Duration(cost.cost_ns) + " per step could be hidden behind it";
  draft.row.cause = "exposed_comm_transfer";
  draft.row.formula =
      "mean over steps of the median over ranks of min(exposed_comm_transfer_ns, compute from "
      "the first gradient to the end of backward)";
  draft.row.advice =
      "let DistributedDataParallel (c10d::Reducer) reduce buckets during backward instead of "
      "reducing afterwards; leave no_sync() before the last micro-batch";
  if (bucket_bytes > 0) {
    draft.row.title = "all gradients (" + MiB(bucket_bytes) +
                      ") are one bucket, which is reduced "
                      "after backward; " +
                      Duration(cost.cost_ns) + " per step could be hidden behind it";
    const std::optional<BucketSize> best = BestBucketSize(facts);
    const bool has_best = best && best->saved_ns > 0;
    draft.row.advice = "bucket_cap_mb " + MiB(bucket_bytes) + " -> " +
                       (has_best ? std::to_string(best->mib) + " MiB" : MiB(bucket_bytes / 4)) +
                       ", so that " + (has_best ? "" : "four ") +
                       "buckets are reduced while backward goes on";
    if (best) draft.row.replayed_ns = best->saved_ns;
  }
  SetCost(facts, cost, draft.row);
  AddEvidence(facts, cost_per_step, draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

// What findings about single collectives have taken already.
double TakenNs(const std::vector<FindingDraft>& drafts) {
  int64_t ns = 0;
  for (const FindingDraft& draft : drafts) {
    if (draft.row.cause == "barrier" || draft.row.cause == "forward_collectives") {
      ns += draft.row.cost_ns.value_or(0);
    }
  }
  return static_cast<double>(ns);
}

Status FindExposed(RunContext&, const FindingFacts& facts, std::vector<FindingDraft>& drafts) {
  // Why it is exposed may be told already.
  if (IsClaimed(drafts, "exposed_comm_transfer")) return OkStatus();
  std::vector<double> cost_per_step = MedianPerStep(facts, ExposedNs);
  const double taken_ns = TakenNs(drafts);
  for (double& ns : cost_per_step) ns = std::max(ns - taken_ns, 0.0);
  const CostOfSteps cost = CostOver(facts, cost_per_step);
  const double share = static_cast<double>(cost.cost_ns) /
                       static_cast<double>(std::max<int64_t>(facts.step_mean_ns, 1));
  if (!IsWorthwhile(facts, cost) || share < kMinExposedShare) return OkStatus();
  FindingDraft draft;
  AllRanks(facts, draft);
  draft.row.kind = "exposed_comm";
  draft.row.title = Duration(cost.cost_ns) + " per step of communication that no compute hides (" +
                    Percent(share) + ")";
  draft.row.cause = "exposed_comm_transfer";
  draft.row.formula = "mean over steps of the median over ranks of exposed_comm_transfer_ns";
  draft.row.advice =
      "communicate less often (gradient accumulation with no_sync: 4 micro-batches save up to " +
      Duration(cost.cost_ns * 3 / 4) +
      " each), less (a bf16 gradient hook halves the bytes, PowerSGD saves more), or do more work "
      "per step (larger batch); bucket_cap_mb decides how early the first bucket starts";
  draft.row.replayed_ns = facts.SavedBy("no-exposed-comm");
  SetCost(facts, cost, draft.row);
  AddEvidence(facts, cost_per_step, draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

constexpr std::array kAfterBackwardKinds = {
    FindingKind{"comm_after_backward",
                "Gradients are communicated only when backward has ended, though the first of "
                "them were ready long before (catalogue 23).",
                "mean over steps of the median over ranks of min(exposed_comm_transfer_ns, compute "
                "from the first gradient to the end of backward)",
                "as above; at most a tenth of the bytes is enqueued earlier",
                "let DistributedDataParallel (c10d::Reducer) reduce buckets during backward; leave "
                "no_sync() before the last micro-batch"},
    FindingKind{"single_bucket", "The same because all gradients are one bucket (catalogue 25).",
                "as comm_after_backward",
                "as comm_after_backward, with one collective of 8 MiB or more a step, which is "
                "never ready before backward ends",
                "bucket_cap_mb down, to a few buckets a step"},
};

constexpr std::array kExposedKinds = {
    FindingKind{"exposed_comm", "Communication that nothing hides (catalogue 23).",
                "mean over steps of the median over ranks of exposed_comm_transfer_ns",
                "a quarter of a step: below that it is the last bucket, which every data-parallel "
                "step has; not beside what says why it is exposed",
                "gradient accumulation with no_sync (n micro-batches: a n-th of it), bf16 or "
                "PowerSGD gradient hooks, a larger batch, bucket_cap_mb"},
};

}  // namespace

extern const FindingRule kAfterBackwardRule;
const FindingRule kAfterBackwardRule{kAfterBackwardKinds, FindAfterBackward};

extern const FindingRule kExposedCommRule;
const FindingRule kExposedCommRule{kExposedKinds, FindExposed};

}  // namespace tutti::analyzer
