// Catalogue 10, 18, 19 and 31: kernels that can't use the whole GPU.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

constexpr std::array kKinds = {
    FindingKind{"false_serialization",
                "Short work of the legacy default stream keeps two other streams from running at "
                "once (catalogue 10).",
                "mean over steps of the median over ranks of step_kernel_use.serialized_ns: the "
                "shorter of the two pieces of work, where the later one was launched in time",
                "as above; the work between them takes at most a tenth of either, and no event "
                "orders them",
                "streams that don't wait for the default one (torch.cuda.Stream, "
                "cudaStreamNonBlocking), and nothing on the default stream between them"},
    FindingKind{"compute_contention",
                "Kernels take longer while collectives run, which use multiprocessors and memory "
                "too (catalogue 31).",
                "mean over steps of the median over ranks of step_kernel_use.contended_ns: "
                "durations beside communication less the median of the same kernels alone",
                "as above; kernels that ran alone five times at least",
                "fewer multiprocessors for collectives (NCCL_MAX_CTAS, NCCL_NCHANNELS), or them "
                "where little is computed"},
    FindingKind{"gpu_underfilled",
                "Kernels have fewer blocks than the GPU has multiprocessors (catalogue 18).",
                "mean over steps of the median over ranks of step_kernel_use.unfilled_ns: duration "
                "* (1 - blocks / multiprocessors)",
                "as above; blocks known of half of the compute at least",
                "a larger batch (its time hardly rises until the GPU is full), or several small "
                "kernels as one"},
    FindingKind{"gemm_shape",
                "Matrix products end with a wave of blocks that leaves most of the GPU empty "
                "(catalogue 19).",
                "mean over steps of the median over ranks of step_kernel_use.last_wave_ns: "
                "duration * (1 - w / ceil(w)) of w waves",
                "as above; registers, threads and shared memory of the kernels are known",
                "sizes that are multiples of 64 or 128 (vocabulary, hidden size, batch * sequence) "
                "and never odd"},
};

using UseRows = std::map<std::pair<int64_t, int64_t>, schema::StepKernelUseRow>;

int64_t ComputeNs(const schema::StepBreakdownRow& parts) { return parts.compute_ns; }

// Share of the compute that findings so far have not taken.
double UnclaimedShare(const FindingFacts& facts, const std::vector<FindingDraft>& drafts) {
  static const std::set<std::string> kOfCompute = {"no_tensor_cores",     "layout_conversion",
                                                   "unfused_elementwise", "false_serialization",
                                                   "compute_contention",  "gpu_underfilled"};
  double compute_ns = 0;
  for (const double ns : MedianPerStep(facts, ComputeNs)) compute_ns += ns;
  if (compute_ns <= 0) return 0;
  double taken_ns = 0;
  for (const FindingDraft& draft : drafts) {
    if (kOfCompute.contains(draft.row.kind)) {
      taken_ns += static_cast<double>(draft.row.cost_ns.value_or(0));
    }
  }
  taken_ns *= static_cast<double>(facts.counted.steps.size());
  return std::max(0.0, 1 - taken_ns / compute_ns);
}

struct Waste {
  std::vector<double> per_step;
  CostOfSteps cost;
};

// Of one column, at most what is left of the compute.
Waste WasteOf(const FindingFacts& facts, const UseRows& rows,
              int64_t schema::StepKernelUseRow::*column, double unclaimed) {
  Waste waste;
  waste.per_step = MedianPerStep(facts, [&](const schema::StepBreakdownRow& parts) -> int64_t {
    const auto row = rows.find({parts.step, parts.rank});
    if (row == rows.end()) return 0;
    const double most = static_cast<double>(parts.compute_ns) * unclaimed;
    return std::min(row->second.*column, static_cast<int64_t>(most));
  });
  waste.cost = CostOver(facts, waste.per_step);
  return waste;
}

void Add(const FindingFacts& facts, const FindingKind& kind, const Waste& waste, std::string title,
         std::string advice, std::vector<FindingDraft>& drafts) {
  FindingDraft draft = DraftOf(kind, facts, waste.cost);
  draft.row.title = std::move(title);
  draft.row.cause = kind.kind;
  draft.row.advice = std::move(advice);
  AddStepEvidence(facts, waste.per_step, ComputeNs, "of compute", draft);
  drafts.push_back(std::move(draft));
}

// Sums over the steps that count and all ranks.
schema::StepKernelUseRow SumOf(const FindingFacts& facts, const UseRows& rows) {
  const std::map<int64_t, size_t> places = facts.counted.Places();
  schema::StepKernelUseRow sum;
  for (const auto& [key, row] : rows) {
    if (!places.contains(key.first)) continue;
    sum.known_ns += row.known_ns;
    sum.unfilled_ns += row.unfilled_ns;
    sum.beside_comm += row.beside_comm;
    sum.last_wave_ns += row.last_wave_ns;
  }
  return sum;
}

void FindUnfilled(const FindingFacts& facts, const UseRows& rows,
                  const schema::StepKernelUseRow& sum, std::vector<FindingDraft>& drafts) {
  const Waste waste =
      WasteOf(facts, rows, &schema::StepKernelUseRow::unfilled_ns, UnclaimedShare(facts, drafts));
  int64_t compute_ns = 0;
  for (const StepParts& step : facts.breakdown) {
    for (const auto& parts : step) compute_ns += parts ? parts->compute_ns : 0;
  }
  if (2 * sum.known_ns < compute_ns || !IsWorthwhile(facts, waste.cost)) return;
  const double filled =
      1 - static_cast<double>(sum.unfilled_ns) / static_cast<double>(sum.known_ns);
  Add(facts, kKinds[2], waste,
      "kernels have blocks for " + Percent(filled) + " of the multiprocessors on average",
      "a larger batch: up to " + std::to_string(static_cast<int64_t>(1 / std::max(filled, 0.01))) +
          " times the work fits beside what runs now; or several small kernels as one",
      drafts);
}

Status FindKernelUse(RunContext& context, const FindingFacts& facts,
                     std::vector<FindingDraft>& drafts) {
  if (!facts.OnGpus()) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const auto all, context.Read<schema::StepKernelUseRow>(""));
  UseRows rows;
  for (const schema::StepKernelUseRow& row : all) rows.emplace(std::pair(row.step, row.rank), row);
  const schema::StepKernelUseRow sum = SumOf(facts, rows);
  const auto steps = static_cast<int64_t>(facts.counted.steps.size() * facts.ranks.size());
  const Waste serialized =
      WasteOf(facts, rows, &schema::StepKernelUseRow::serialized_ns, UnclaimedShare(facts, drafts));
  if (IsWorthwhile(facts, serialized.cost)) {
    Add(facts, kKinds[0], serialized,
        "work of two streams runs one after the other because of short work on the default "
        "stream between them: " +
            Duration(serialized.cost.cost_ns) + " per step",
        std::string(kKinds[0].advice), drafts);
  }
  const Waste contended =
      WasteOf(facts, rows, &schema::StepKernelUseRow::contended_ns, UnclaimedShare(facts, drafts));
  if (IsWorthwhile(facts, contended.cost)) {
    Add(facts, kKinds[1], contended,
        std::to_string(sum.beside_comm / std::max<int64_t>(steps, 1)) +
            " kernels a step beside collectives take " + Duration(contended.cost.cost_ns) +
            " longer than alone",
        std::string(kKinds[1].advice), drafts);
  }
  FindUnfilled(facts, rows, sum, drafts);
  const Waste waves =
      WasteOf(facts, rows, &schema::StepKernelUseRow::last_wave_ns, UnclaimedShare(facts, drafts));
  if (IsWorthwhile(facts, waves.cost)) {
    Add(facts, kKinds[3], waves,
        "matrix products end with waves of blocks that leave the GPU empty for " +
            Duration(waves.cost.cost_ns) + " per step",
        std::string(kKinds[3].advice), drafts);
  }
  return OkStatus();
}

}  // namespace

extern const FindingRule kKernelUseRule;
const FindingRule kKernelUseRule{kKinds, FindKernelUse};

}  // namespace tutti::analyzer
