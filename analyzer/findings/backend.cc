// Catalogue 27 and 28: gradients of GPUs go over the host, or one process drives several GPUs.
#include <algorithm>
#include <array>
#include <map>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

constexpr std::array kKinds = {
    FindingKind{
        "gloo_on_gpu",
        "GPUs communicate over Gloo, that is over host memory and CPU threads "
        "(catalogue 27).",
        "time in Gloo's collectives per step and rank, at most the step's time without "
        "compute",
        "as above; 1 MiB a step or more over Gloo in a job that computes on GPUs",
        "init_process_group(backend=\"nccl\"); Gloo beside it for barriers of the host only"},
    FindingKind{"data_parallel",
                "One process drives several GPUs and copies parameters and gradients between them "
                "in each step (nn.DataParallel; catalogue 28).",
                "time of copies between GPUs per step that no kernel hides",
                "as above; two GPUs or more compute in one process",
                "DistributedDataParallel with one process a GPU (torchrun)"},
};

// The window less compute: more than that no communication can take.
std::vector<double> NotCompute(const FindingFacts& facts) {
  return MedianPerStep(facts, [](const schema::StepBreakdownRow& parts) {
    return parts.step_ns - parts.compute_ns;
  });
}

Status FindGloo(RunContext& context, const FindingFacts& facts, std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const int64_t bytes, context.derived().QueryOne<int64_t>(
                                                  "SELECT coalesce(sum(s.bytes * s.count), 0)"
                                                  " FROM collective_summary AS s"
                                                  " JOIN run_communicator AS c"
                                                  " ON c.id = s.communicator_id"
                                                  " WHERE c.backend = 'gloo' AND s.bytes > 0"));
  TUTTI_ASSIGN_OR_RETURN(
      const int64_t call_ns,
      context.derived().QueryOne<int64_t>(
          "SELECT coalesce(sum(k.end_ns - k.arrival_ns), 0) FROM collective_call AS k"
          " JOIN collective AS c ON c.id = k.collective_id"
          " JOIN run_communicator AS g ON g.id = c.communicator_id"
          " JOIN run_step AS s ON s.step = k.step WHERE g.backend = 'gloo' AND " +
          facts.counted.condition));
  const auto steps = static_cast<int64_t>(facts.counted.steps.size());
  if (steps == 0 || bytes / steps < (1 << 20)) return OkStatus();
  const auto ranks = static_cast<int64_t>(facts.ranks.size());
  std::vector<double> per_step = NotCompute(facts);
  for (double& ns : per_step) ns = std::min(ns, static_cast<double>(call_ns / steps / ranks));
  const CostOfSteps cost = CostOver(facts, per_step);
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  draft.row.title =
      std::to_string(bytes / steps >> 20) +
      " MiB a step go over Gloo, though the ranks compute on GPUs: " + Duration(cost.cost_ns) +
      " per step";
  draft.row.cause = "exposed_comm_transfer";
  draft.row.advice = kKinds[0].advice;
  draft.row.replayed_ns = facts.SavedBy("no-exposed-comm");
  AddStepEvidence(
      facts, per_step,
      [](const schema::StepBreakdownRow& parts) { return parts.step_ns - parts.compute_ns; },
      "without compute", draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

Status FindDataParallel(RunContext& context, const FindingFacts& facts,
                        std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const auto devices, context.Read<schema::DeviceSummaryRow>(
                                                 "WHERE kernels > 0 ORDER BY rank, device_id"));
  std::map<int64_t, int64_t> devices_of;
  for (const schema::DeviceSummaryRow& row : devices) {
    if (row.compute_ns * 20 > row.end_ns - row.begin_ns) ++devices_of[row.rank];
  }
  const auto steps = static_cast<int64_t>(facts.counted.steps.size());
  for (const auto& [rank, count] : devices_of) {
    if (count < 2 || steps == 0) continue;
    TUTTI_ASSIGN_OR_RETURN(
        const auto copies,
        context.Read<schema::CopyStatsRow>(
            "WHERE rank = ?1 AND direction IN ('PtoP', 'DtoD') AND in_steps_count"
            " > 0 ORDER BY exposed_ns DESC, device_id, direction",
            rank));
    CostOfSteps cost;
    for (const schema::CopyStatsRow& row : copies) {
      // Of the whole trace: as much of it as lies in the steps that count.
      cost.cost_ns += row.exposed_ns * row.in_steps_count / row.count / steps;
    }
    cost.steps_seen = steps;
    if (copies.empty() || !IsWorthwhile(facts, cost)) continue;
    FindingDraft draft = DraftOf(kKinds[1], facts, cost);
    draft.ranks = {rank};
    draft.row.title = "one process computes on " + std::to_string(count) +
                      " GPUs and copies between them " + Duration(cost.cost_ns) + " per step";
    draft.row.cause = "data_parallel";
    draft.row.advice = kKinds[1].advice;
    draft.evidence.push_back(
        {0,
         0,
         rank,
         "copy_stats",
         copies[0].device_id,
         {},
         {},
         std::to_string(copies[0].in_steps_count / steps) + " copies between GPUs a step"});
    drafts.push_back(std::move(draft));
  }
  return OkStatus();
}

Status FindBackends(RunContext& context, const FindingFacts& facts,
                    std::vector<FindingDraft>& drafts) {
  if (!facts.OnGpus()) return OkStatus();
  TUTTI_RETURN_IF_ERROR(FindGloo(context, facts, drafts));
  return FindDataParallel(context, facts, drafts);
}

}  // namespace

extern const FindingRule kBackendRule;
const FindingRule kBackendRule{kKinds, FindBackends};

}  // namespace tutti::analyzer
