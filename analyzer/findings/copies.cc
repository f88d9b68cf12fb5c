// Catalogue 4 to 6: copies that nothing hides, told apart by what makes them slow.
//
// Bound per step: the exposed copies, the median over ranks. They can all be hidden behind
// compute, in principle: the next batch is known while this one is worked on.
#include <array>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

constexpr int64_t kSmallBytes = 64 << 10;
constexpr int64_t kManyPerStep = 16;

constexpr std::array kKinds = {
    FindingKind{"pageable_copy",
                "Copies between host and GPU from memory that is not pinned (catalogue 4).",
                "mean over steps of the median over ranks of exposed_copy_ns",
                "as above; most of the exposed time is in copies of pageable memory",
                "pin_memory=True in the DataLoader and non_blocking=True in .to()"},
    FindingKind{"copy_storm", "Many small copies (catalogue 6).", "the same",
                "as above; most is in copies of less than 64 KiB, at least 16 a step",
                "collate the batch on the host and copy it once"},
    FindingKind{"exposed_copy", "Copies that no kernel hides (catalogue 5).", "the same",
                "as above",
                "copy the next batch on a stream of its own while this one is worked on (double "
                "buffer)"},
};

int64_t CopyNs(const schema::StepBreakdownRow& parts) { return parts.exposed_copy_ns; }

const FindingKind& KindOf(const schema::CopyStatsRow& copies, int64_t steps) {
  if (copies.source == "pageable" || copies.destination == "pageable") return kKinds[0];
  const bool is_storm =
      copies.p50_bytes < kSmallBytes && copies.in_steps_count >= kManyPerStep * steps;
  return is_storm ? kKinds[1] : kKinds[2];
}

Status FindCopies(RunContext& context, const FindingFacts& facts,
                  std::vector<FindingDraft>& drafts) {
  const std::vector<double> per_step = MedianPerStep(facts, CopyNs);
  const CostOfSteps cost = CostOver(facts, per_step);
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(
      const auto copies,
      context.Read<schema::CopyStatsRow>("WHERE in_steps_count > 0 ORDER BY exposed_ns DESC, rank,"
                                         " device_id, direction, source, destination LIMIT 1"));
  if (copies.empty()) return OkStatus();
  const auto steps = static_cast<int64_t>(facts.counted.steps.size());
  const schema::CopyStatsRow& most = copies.front();
  const FindingKind& kind = KindOf(most, steps);
  FindingDraft draft = DraftOf(kind, facts, cost);
  draft.row.title = Duration(cost.cost_ns) + " per step of copies that nothing hides, most " +
                    most.direction + (most.source.empty() ? "" : " from " + most.source) + ": " +
                    std::to_string(most.in_steps_count / steps) + " a step, " +
                    std::to_string(most.bytes / std::max<int64_t>(most.count, 1) / 1024) +
                    " KiB each";
  if (most.gb_per_s) {
    draft.row.title += " at " + std::to_string(static_cast<int64_t>(*most.gb_per_s)) + " GB/s";
  }
  draft.row.cause = "exposed_copy";
  draft.row.advice = kind.advice;
  draft.row.replayed_ns = facts.SavedBy("no-copies");
  AddStepEvidence(facts, per_step, CopyNs, "of copies that nothing hides", draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

}  // namespace

extern const FindingRule kCopyRule;
const FindingRule kCopyRule{kKinds, FindCopies};

}  // namespace tutti::analyzer
