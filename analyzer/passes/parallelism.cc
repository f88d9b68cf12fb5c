// What communicators are for, and how full pipelines are.
//
//   transfers between neighbours              pipeline
//   all-to-all of payload                     expert
//   gradients (used in or after backward,
//   all-reduced or reduce-scattered once)     data
//   activations: as much of its payload is
//   reduced in forward, or many times a step  tensor
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analyzer/input/steps_that_count.h"
#include "analyzer/metrics/collective_timing.h"
#include "analyzer/metrics/communicators.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

// What a communicator did in the steps that count.
struct Use {
  int64_t transfers = 0;    // sends and receives
  int64_t all_to_alls = 0;  // with payload
  int64_t reductions = 0;   // all-reduce, reduce-scatter
  int64_t others = 0;
  int64_t total() const { return transfers + all_to_alls + reductions + others; }
};

Result<std::map<int64_t, Use>> ReadUses(RunContext& context) {
  std::map<int64_t, Use> uses;
  TUTTI_ASSIGN_OR_RETURN(const auto rows,
                         context.Read<schema::CollectiveSummaryRow>("WHERE communicator_id >= 0"));
  for (const schema::CollectiveSummaryRow& row : rows) {
    Use& use = uses[row.communicator_id];
    if (KindOfOp(row.op) == OpKind::kPointToPoint) {
      use.transfers += row.count;
    } else if (row.op.find("all_to_all") != std::string::npos ||
               row.op.find("alltoall") != std::string::npos) {
      use.all_to_alls += row.count;
    } else if (row.op.find("reduce") != std::string::npos) {
      use.reductions += row.count;
    } else {
      use.others += row.count;
    }
  }
  return uses;
}

// By communicator: which share of what its ranks reduce in steps with a backward they hand in
// before that begins.
Result<std::map<int64_t, double>> ReadSharesInForward(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement statement,
      context.derived().Prepare(
          "SELECT c.communicator_id, total(c.bytes), total(c.bytes * (coalesce(k.enqueue_ns,"
          " k.arrival_ns) < b.begin_ns)) FROM collective AS c JOIN collective_call AS k"
          " ON k.collective_id = c.id JOIN step_backward AS b ON b.step = k.step AND b.rank ="
          " k.rank WHERE c.op LIKE '%reduce%' AND c.communicator_id IS NOT NULL GROUP BY 1"));
  std::map<int64_t, double> shares;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return shares;
    TUTTI_ASSIGN_OR_RETURN(const int64_t communicator, statement.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const double bytes, statement.Get<double>(1));
    TUTTI_ASSIGN_OR_RETURN(const double in_forward, statement.Get<double>(2));
    if (bytes > 0) shares[communicator] = in_forward / bytes;
  }
}

// `in_forward`: its share of ReadSharesInForward.
schema::ParallelGroupRow Classify(const schema::RunCommunicatorRow& communicator, const Use& use,
                                  int64_t steps, int64_t world, double in_forward) {
  constexpr int64_t kManyPerStep = 32;
  // Half of it, if each layer's activations are reduced in forward and their gradients in
  // backward. What normalization or metrics reduce in forward is little beside gradients.
  constexpr double kLeastInForward = 0.25;
  schema::ParallelGroupRow row;
  row.communicator_id = communicator.id;
  const int64_t per_step = use.total() / std::max<int64_t>(steps, 1);
  if (use.total() == 0) {
    row.kind = communicator.size == world ? "world" : "other";
    row.reason = "not used in the steps that count";
  } else if (use.transfers * 2 > use.total()) {
    row.kind = "pipeline";
    row.reason = "most of its calls are sends and receives";
  } else if (use.all_to_alls * 2 > use.total()) {
    row.kind = "expert";
    row.reason = "most of its calls are all-to-all";
  } else if (per_step >= kManyPerStep && communicator.size < world) {
    row.kind = "tensor";
    row.reason = std::to_string(per_step) + " collectives a step in a part of the world";
  } else if (use.reductions * 2 > use.total() && in_forward >= kLeastInForward) {
    row.kind = "tensor";
    row.reason = std::to_string(std::llround(in_forward * 100)) +
                 " % of what it reduces is reduced in forward";
  } else if (use.reductions > 0) {
    row.kind = "data";
    row.reason = "reduces " + std::to_string(per_step) + " times a step";
  } else {
    row.kind = communicator.size == world ? "world" : "other";
    row.reason = "neither reduces nor transfers";
  }
  return row;
}

// Stages of a pipeline: ranks of its communicator in order.
struct Stage {
  int64_t stage = 0;
  int64_t stages = 0;
};

// The first group of a job tells no list of its ranks; its members know their places.
Result<std::map<int64_t, Stage>> StagesOfRanks(
    RunContext& context, const std::vector<schema::RunCommunicatorRow>& communicators,
    const std::vector<schema::ParallelGroupRow>& groups) {
  std::map<int64_t, Stage> stages;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].kind != "pipeline") continue;
    const std::vector<int64_t> ranks = ParseRankList(communicators[i].global_ranks.value_or(""));
    for (size_t stage = 0; stage < ranks.size(); ++stage) {
      stages[ranks[stage]] = {static_cast<int64_t>(stage), static_cast<int64_t>(ranks.size())};
    }
    if (!ranks.empty() || !communicators[i].size) continue;
    TUTTI_ASSIGN_OR_RETURN(const auto members,
                           context.Read<schema::RunCommunicatorMemberRow>(
                               "WHERE communicator_id = ?1", communicators[i].id));
    for (const schema::RunCommunicatorMemberRow& member : members) {
      if (member.group_rank) stages[member.rank] = {*member.group_rank, *communicators[i].size};
    }
  }
  return stages;
}

// Sends and receives of each rank and step. By (step, rank).
Result<std::map<std::pair<int64_t, int64_t>, int64_t>> CountTransfers(RunContext& context) {
  std::map<std::pair<int64_t, int64_t>, int64_t> counts;
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement statement,
      context.derived().Prepare("SELECT k.step, k.rank, count(*) FROM collective_call AS k"
                                " JOIN collective AS c ON c.id = k.collective_id"
                                " WHERE (c.op LIKE 'send%' OR c.op LIKE 'recv%' OR c.op LIKE "
                                "'receive%') AND k.step IS NOT NULL GROUP BY k.step, k.rank"));
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return counts;
    TUTTI_ASSIGN_OR_RETURN(const int64_t step, statement.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const int64_t rank, statement.Get<int64_t>(1));
    TUTTI_ASSIGN_OR_RETURN(counts[std::pair(step, rank)], statement.Get<int64_t>(2));
  }
}

Status WritePipelines(RunContext& context, const std::map<int64_t, Stage>& stages) {
  if (stages.empty()) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const auto transfers, CountTransfers(context));
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::StepBreakdownRow>(""));
  std::vector<schema::PipelineStepRow> pipeline;
  for (const schema::StepBreakdownRow& row : rows) {
    const auto stage = stages.find(row.rank);
    const auto count = transfers.find({row.step, row.rank});
    if (stage == stages.end() || count == transfers.end()) continue;
    schema::PipelineStepRow step{row.step, row.rank, stage->second.stage, stage->second.stages};
    // A micro-batch is received and sent forward and backward, at the ends half as often.
    const bool is_end = step.stage == 0 || step.stage == step.stages - 1;
    step.microbatches = count->second / (is_end ? 2 : 4);
    step.step_ns = row.step_ns;
    step.compute_ns = row.compute_ns;
    step.bubble_ns =
        row.step_ns - row.compute_ns - row.exposed_comm_transfer_ns - row.exposed_copy_ns;
    pipeline.push_back(step);
  }
  return context.Write(pipeline);
}

Status Run(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const auto ranks, context.Ranks());
  TUTTI_ASSIGN_OR_RETURN(const StepsThatCount counted, ReadStepsThatCount(context));
  TUTTI_ASSIGN_OR_RETURN(const auto communicators,
                         context.Read<schema::RunCommunicatorRow>("ORDER BY id"));
  TUTTI_ASSIGN_OR_RETURN(const auto uses, ReadUses(context));
  TUTTI_ASSIGN_OR_RETURN(const auto in_forward, ReadSharesInForward(context));
  int64_t world = static_cast<int64_t>(ranks.size());
  for (const schema::RankRow& rank : ranks) world = std::max(world, rank.world_size.value_or(0));
  std::vector<schema::ParallelGroupRow> groups;
  for (const schema::RunCommunicatorRow& communicator : communicators) {
    const auto use = uses.find(communicator.id);
    const auto share = in_forward.find(communicator.id);
    groups.push_back(Classify(communicator, use == uses.end() ? Use() : use->second,
                              static_cast<int64_t>(counted.steps.size()), world,
                              share == in_forward.end() ? 0 : share->second));
  }
  TUTTI_RETURN_IF_ERROR(context.Write(groups));
  TUTTI_ASSIGN_OR_RETURN(const auto stages, StagesOfRanks(context, communicators, groups));
  return WritePipelines(context, stages);
}

}  // namespace

extern const Pass kParallelismPass;
const Pass kParallelismPass{"parallelism", Run};

}  // namespace tutti::analyzer
