// Catalogue 17, 20 and 21: what GPU kernels do that they need not, or could do faster.
#include <algorithm>
#include <array>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

constexpr double kManyElementwise = 0.2;  // share of a step
constexpr int64_t kChainPerStep = 50;

constexpr std::array kKinds = {
    FindingKind{
        "no_tensor_cores",
        "Matrix multiplications, convolutions or attention run without tensor cores "
        "(catalogue 17).",
        "half of their time per step: tensor cores do such work at least twice as fast",
        "as above; told by kernel names, so confidence is medium at most",
        "torch.autocast with bf16, torch.backends.cuda.matmul.allow_tf32 = True; sizes that "
        "are multiples of 8"},
    FindingKind{
        "layout_conversion", "Kernels that only move or transpose data (catalogue 21).",
        "their time per step", "as above; told by kernel names",
        "memory_format=torch.channels_last for the model and its input; no .contiguous() or "
        "casts in the loop"},
    FindingKind{"unfused_elementwise",
                "Many elementwise kernels, each of which reads and writes memory (catalogue 20).",
                "half of their time per step: two that are fused read and write once",
                "a fifth of a step and at least 50 kernels a step; told by kernel names",
                "torch.compile, fused activations and norms, foreach optimizers"},
};

// Per step: the median over ranks of a category's time. And how many kernels.
struct Category {
  std::vector<double> per_step;
  int64_t count_per_step = 0;
};

Result<Category> ReadCategory(RunContext& context, const FindingFacts& facts,
                              const std::string& name) {
  const std::map<int64_t, size_t> places = facts.counted.Places();
  std::vector<std::vector<int64_t>> values(places.size());
  TUTTI_ASSIGN_OR_RETURN(const auto rows,
                         context.Read<schema::StepCategoryRow>("WHERE category = ?1", name));
  Category category;
  for (const schema::StepCategoryRow& row : rows) {
    const auto place = places.find(row.step);
    if (place == places.end()) continue;
    values[place->second].push_back(row.total_ns);
    category.count_per_step += row.count;
  }
  for (std::vector<int64_t>& step : values) {
    step.resize(facts.ranks.size(), 0);  // ranks without any
    category.per_step.push_back(static_cast<double>(MedianOf(std::move(step)).value_or(0)));
  }
  category.count_per_step /=
      std::max<int64_t>(static_cast<int64_t>(places.size() * facts.ranks.size()), 1);
  return category;
}

int64_t ComputeNs(const schema::StepBreakdownRow& parts) { return parts.compute_ns; }

void Add(const FindingFacts& facts, const FindingKind& kind, const std::vector<double>& per_step,
         const CostOfSteps& cost, std::string title, std::vector<FindingDraft>& drafts) {
  FindingDraft draft = DraftOf(kind, facts, cost);
  draft.row.title = std::move(title);
  draft.row.cause = kind.kind;
  draft.row.advice = kind.advice;
  if (draft.row.confidence == "high") draft.row.confidence = "medium";
  draft.row.reason += "; told by kernel names";
  AddStepEvidence(facts, per_step, ComputeNs, "of compute", draft);
  drafts.push_back(std::move(draft));
}

Status FindNoTensorCores(RunContext& context, const FindingFacts& facts,
                         std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const auto devices, context.Read<schema::DeviceSummaryRow>(""));
  int64_t without_ns = 0;
  int64_t compute_ns = 0;
  for (const schema::DeviceSummaryRow& row : devices) {
    without_ns += row.tensor_able_ns - row.tensor_core_ns;
    compute_ns += row.compute_ns;
  }
  if (compute_ns == 0 || without_ns == 0) return OkStatus();
  const double share =
      std::min(1.0, static_cast<double>(without_ns) / static_cast<double>(compute_ns));
  std::vector<double> per_step = MedianPerStep(facts, ComputeNs);
  for (double& ns : per_step) ns *= share / 2;
  const CostOfSteps cost = CostOver(facts, per_step);
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  Add(facts, kKinds[0], per_step, cost,
      Percent(share) +
          " of the compute is in kernels that could use tensor cores and, by their "
          "names, don't: " +
          Duration(2 * cost.cost_ns) + " per step",
      drafts);
  return OkStatus();
}

Status FindKernels(RunContext& context, const FindingFacts& facts,
                   std::vector<FindingDraft>& drafts) {
  if (!facts.OnGpus()) return OkStatus();
  TUTTI_RETURN_IF_ERROR(FindNoTensorCores(context, facts, drafts));
  TUTTI_ASSIGN_OR_RETURN(const Category layout, ReadCategory(context, facts, "layout"));
  const CostOfSteps moved = CostOver(facts, layout.per_step);
  if (IsWorthwhile(facts, moved)) {
    Add(facts, kKinds[1], layout.per_step, moved,
        std::to_string(layout.count_per_step) +
            " kernels a step only move or transpose data: " + Duration(moved.cost_ns),
        drafts);
  }
  TUTTI_ASSIGN_OR_RETURN(Category elementwise, ReadCategory(context, facts, "elementwise"));
  for (double& ns : elementwise.per_step) ns /= 2;
  const CostOfSteps fused = CostOver(facts, elementwise.per_step);
  const bool many = elementwise.count_per_step >= kChainPerStep &&
                    static_cast<double>(fused.cost_ns) >=
                        kManyElementwise / 2 * static_cast<double>(facts.step_mean_ns);
  if (many && IsWorthwhile(facts, fused)) {
    Add(facts, kKinds[2], elementwise.per_step, fused,
        std::to_string(elementwise.count_per_step) + " elementwise kernels a step take " +
            Duration(2 * fused.cost_ns),
        drafts);
  }
  return OkStatus();
}

}  // namespace

extern const FindingRule kKernelRule;
const FindingRule kKernelRule{kKinds, FindKernels};

}  // namespace tutti::analyzer
