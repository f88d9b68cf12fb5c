// Catalogue 4 to 6: copies that nothing hides, told apart by what makes them slow.
//
// Bound per step: the exposed copies, the median over ranks. They can all be hidden behind
// compute, in principle: the next batch is known while this one is worked on. Of pageable memory
// less what pinned memory would take, where the trace tells; of many less that of one.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>
#include <string>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

constexpr int64_t kSmallBytes = 64 << 10;
constexpr int64_t kManyPerStep = 16;

constexpr std::array kKinds = {
    FindingKind{
        "pageable_copy",
        "Copies between host and GPU from memory that is not pinned (catalogue 4).",
        "mean over steps of the median over ranks of exposed_copy_ns, less what pinned memory "
        "takes for the same bytes, where there are such copies",
        "as above; most of the exposed time is in copies of pageable memory",
        "pin_memory=True in the DataLoader and non_blocking=True in .to()"},
    FindingKind{"copy_storm", "Many small copies (catalogue 6).",
                "mean over steps of the median over ranks of exposed_copy_ns, less a copy's share: "
                "one remains",
                "as above; most is in copies of less than 64 KiB, at least 16 a step",
                "collate the batch on the host and copy it once"},
    FindingKind{"exposed_copy", "Copies that no kernel hides (catalogue 5).",
                "mean over steps of the median over ranks of exposed_copy_ns", "as above",
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

// Bandwidth of copies of pinned memory in the same direction, nothing if there are none.
std::optional<double> PinnedGbPerS(std::span<const schema::CopyStatsRow> copies,
                                   const schema::CopyStatsRow& of) {
  std::optional<double> best;
  for (const schema::CopyStatsRow& row : copies) {
    const bool is_pinned = row.source == "pinned" || row.destination == "pinned";
    if (!is_pinned || row.direction != of.direction || !row.p50_gb_per_s) continue;
    best = std::max(best.value_or(0), *row.p50_gb_per_s);
  }
  return best;
}

std::string GbPerS(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g GB/s", value);
  return text;
}

// What is done about it: how much of the exposed time that saves, and in which words.
struct Remedy {
  double saved = 1;
  std::string value;
};

Remedy RemedyOf(const FindingFacts& facts, std::span<const schema::CopyStatsRow> copies,
                const FindingKind& kind) {
  const schema::CopyStatsRow& most = copies.front();
  const auto steps = static_cast<int64_t>(facts.counted.steps.size());
  if (&kind == &kKinds[0]) {
    const std::optional<double> pinned = PinnedGbPerS(copies, most);
    const double own = most.gb_per_s.value_or(0);
    if (!pinned || *pinned <= own) return {};
    return {1 - own / *pinned, ": pinned memory moves " + GbPerS(*pinned) + " here"};
  }
  if (&kind == &kKinds[1]) {
    const int64_t count = most.in_steps_count / steps;
    const int64_t kib = most.bytes / most.count * count / 1024;
    return {1 - 1 / static_cast<double>(count),
            ": one of " + std::to_string(kib) + " KiB instead of " + std::to_string(count)};
  }
  const CostOfSteps compute =
      CostOver(facts, MedianPerStep(facts, [](const auto& parts) { return parts.compute_ns; }));
  return {1, ": " + Duration(compute.cost_ns) + " of compute a step could hide it"};
}

Status FindCopies(RunContext& context, const FindingFacts& facts,
                  std::vector<FindingDraft>& drafts) {
  std::vector<double> per_step = MedianPerStep(facts, CopyNs);
  if (!IsWorthwhile(facts, CostOver(facts, per_step))) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(
      const auto copies,
      context.Read<schema::CopyStatsRow>("WHERE in_steps_count > 0 ORDER BY exposed_ns DESC, rank,"
                                         " device_id, direction, source, destination"));
  if (copies.empty()) return OkStatus();
  const auto steps = static_cast<int64_t>(facts.counted.steps.size());
  const schema::CopyStatsRow& most = copies.front();
  const FindingKind& kind = KindOf(most, steps);
  const Remedy remedy = RemedyOf(facts, copies, kind);
  for (double& ns : per_step) ns *= remedy.saved;
  const CostOfSteps cost = CostOver(facts, per_step);
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  FindingDraft draft = DraftOf(kind, facts, cost);
  draft.row.title = Duration(std::llround(static_cast<double>(cost.cost_ns) / remedy.saved)) +
                    " per step of copies that nothing hides, most " + most.direction +
                    (most.source.empty() ? "" : " from " + most.source) + ": " +
                    std::to_string(most.in_steps_count / steps) + " a step, " +
                    std::to_string(most.bytes / std::max<int64_t>(most.count, 1) / 1024) +
                    " KiB each";
  if (most.gb_per_s) {
    draft.row.title += " at " + std::to_string(static_cast<int64_t>(*most.gb_per_s)) + " GB/s";
  }
  draft.row.cause = "exposed_copy";
  draft.row.advice = std::string(kind.advice) + remedy.value;
  draft.row.replayed_ns = facts.SavedBy("no-copies");
  AddStepEvidence(facts, per_step, CopyNs, "of copies that nothing hides", draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

}  // namespace

extern const FindingRule kCopyRule;
const FindingRule kCopyRule{kKinds, FindCopies};

}  // namespace tutti::analyzer
