// What computes, communicates, copies or loads on each rank: its threads and streams.
#include "analyzer/metrics/lanes.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "analyzer/metrics/kernel_names.h"
#include "analyzer/metrics/names.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

using EvidenceByThread = std::map<int64_t, ThreadEvidence>;

ThreadEvidence& EvidenceOf(EvidenceByThread& threads, int64_t tid) {
  ThreadEvidence& evidence = threads[tid];
  evidence.tid = tid;
  return evidence;
}

Status CollectOps(RankTrace& trace, EvidenceByThread& threads) {
  TUTTI_ASSIGN_OR_RETURN(const std::span<const OpEvent> ops, trace.Ops());
  std::map<int64_t, bool> is_optimizer;  // by name
  ThreadEvidence* evidence = nullptr;
  for (const OpEvent& op : ops) {
    if (evidence == nullptr || evidence->tid != op.tid) evidence = &EvidenceOf(threads, op.tid);
    if (op.scope == kScopeFunction || op.scope == kScopeBackward) {
      ++evidence->operators;
      evidence->operator_ns += op.end_ns - op.begin_ns;
      if (op.scope == kScopeBackward) ++evidence->backward_functions;
    } else {
      const auto [known, is_new] = is_optimizer.emplace(op.name_id, false);
      if (is_new) known->second = IsOptimizerStep(trace.Text(op.name_id));
      if (known->second) ++evidence->optimizer_steps;
    }
  }
  return OkStatus();
}

Status CollectMarks(RankTrace& trace, EvidenceByThread& threads) {
  TUTTI_ASSIGN_OR_RETURN(const auto steps, trace.Steps());
  for (const schema::StepRow& step : steps) ++EvidenceOf(threads, step.tid).training_marks;
  TUTTI_ASSIGN_OR_RETURN(const auto phases, trace.Phases());
  for (const schema::PhaseRow& phase : phases) {
    ThreadEvidence& evidence = EvidenceOf(threads, phase.tid);
    if (phase.phase == "data") {
      ++evidence.data_phases;
    } else {
      ++evidence.training_marks;
      if (phase.phase == "optimizer") ++evidence.optimizer_steps;
    }
  }
  TUTTI_ASSIGN_OR_RETURN(const auto waits, trace.DataWaits());
  for (const schema::DataWaitRow& wait : waits) ++EvidenceOf(threads, wait.tid).data_waits;
  TUTTI_ASSIGN_OR_RETURN(const auto collectives, trace.Collectives());
  for (const CollectiveEvent& call : collectives) {
    if (call.row.tid && call.row.enqueue_tid && *call.row.tid != *call.row.enqueue_tid) {
      ++EvidenceOf(threads, *call.row.tid).collectives_run;
    }
  }
  return OkStatus();
}

Status WriteThreads(RunContext& context, const schema::RankRow& rank, RankTrace& trace) {
  EvidenceByThread threads;
  std::map<int64_t, std::optional<std::string>> names;
  TUTTI_ASSIGN_OR_RETURN(const auto rows, trace.Threads());
  for (const schema::ThreadRow& row : rows) {
    EvidenceOf(threads, row.tid).role = row.role.value_or("");
    names[row.tid] = row.name;
  }
  TUTTI_RETURN_IF_ERROR(CollectOps(trace, threads));
  TUTTI_RETURN_IF_ERROR(CollectMarks(trace, threads));

  std::vector<ThreadEvidence> evidence;
  for (const auto& [tid, thread] : threads) evidence.push_back(thread);
  const std::vector<LaneDecision> decisions = DecideLanes(evidence);
  std::vector<schema::LaneRow> lanes;
  for (size_t i = 0; i < evidence.size(); ++i) {
    schema::LaneRow lane;
    lane.rank = rank.rank;
    lane.kind = "thread";
    lane.device_id = -1;
    lane.id = evidence[i].tid;
    lane.role = ToString(decisions[i].role);
    if (decisions[i].role == LaneRole::kCompute && rank.device_kind == "gpu") lane.role = "host";
    lane.reason = decisions[i].reason;
    lane.name = names[evidence[i].tid];
    lane.events = evidence[i].operators + evidence[i].collectives_run;
    lanes.push_back(std::move(lane));
  }
  return context.Write(lanes);
}

// What a stream did, by number of events: compute, communication, copies.
struct StreamCounts {
  int64_t compute = 0;
  int64_t communication = 0;
  int64_t copy = 0;
};

void Count(const DeviceEvent& event, StreamCounts& counts) {
  ++(event.role == KernelRole::kCompute         ? counts.compute
     : event.role == KernelRole::kCommunication ? counts.communication
                                                : counts.copy);
}

schema::LaneRow StreamLane(const schema::RankRow& rank, std::pair<int64_t, int64_t> stream,
                           const StreamCounts& counts) {
  schema::LaneRow lane;
  lane.rank = rank.rank;
  lane.kind = "stream";
  lane.device_id = stream.first;
  lane.id = stream.second;
  lane.events = counts.compute + counts.communication + counts.copy;
  const int64_t most = std::max({counts.compute, counts.communication, counts.copy});
  lane.role = most == counts.compute         ? "compute"
              : most == counts.communication ? "communication"
                                             : "copy";
  lane.reason = "most of its events";
  return lane;
}

Status WriteStreams(RunContext& context, const schema::RankRow& rank, RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
  std::map<std::pair<int64_t, int64_t>, StreamCounts> streams;
  for (const DeviceEvent& event : events) Count(event, streams[{event.device_id, event.stream_id}]);
  std::map<std::pair<int64_t, int64_t>, std::optional<std::string>> names;
  TUTTI_ASSIGN_OR_RETURN(const auto rows, trace.Streams());
  for (const schema::StreamRow& row : rows) names[{row.device_id, row.stream_id}] = row.name;
  std::vector<schema::LaneRow> lanes;
  for (const auto& [stream, counts] : streams) {
    lanes.push_back(StreamLane(rank, stream, counts));
    lanes.back().name = names[stream];
  }
  return context.Write(lanes);
}

// Kernels whose names tell nothing, on streams that otherwise communicate, may communicate,
// too: offered, not decided.
Status OfferRules(RunContext& context, const schema::RankRow& rank, RankTrace& trace) {
  constexpr size_t kMostNames = 3;
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
  std::map<std::pair<int64_t, int64_t>, StreamCounts> streams;
  for (const DeviceEvent& event : events) Count(event, streams[{event.device_id, event.stream_id}]);
  std::map<std::string, int64_t> offered;
  int64_t kernels = 0;
  for (const DeviceEvent& event : events) {
    if (event.role != KernelRole::kCompute || event.role_is_told) continue;
    const StreamCounts& stream = streams[{event.device_id, event.stream_id}];
    if (stream.communication <= stream.compute) continue;
    const std::string& name = trace.NameOf(event);
    if (CategoryOfKernel(name) != KernelCategory::kOther) continue;
    ++offered[name];
    ++kernels;
  }
  if (offered.empty()) return OkStatus();
  std::string names;
  size_t named = 0;
  for (const auto& [name, count] : offered) {
    if (named++ == kMostNames) break;
    names += (named == 1 ? "" : ", ") + name.substr(0, 60);
  }
  schema::DataIssueRow issue;
  issue.severity = "notice";
  issue.name = "kernels_on_comm_stream";
  issue.origin = "analysis";
  issue.source = "analyzer.lanes";
  issue.rank = rank.rank;
  issue.count = kernels;
  issue.detail = std::to_string(kernels) +
                 " kernels of unknown kind run on a stream that communicates; they count as "
                 "compute: " +
                 names + (offered.size() > kMostNames ? " and more" : "");
  issue.advice = "if they communicate, say so in a file of rules: --kernel-rules";
  return context.AddIssue(issue);
}

// Without operators and kernels compute is not small but unknown.
Status WriteNoOperators(RunContext& context, int64_t ranks) {
  if (ranks == 0) return OkStatus();
  schema::DataIssueRow issue;
  issue.severity = "data_loss";
  issue.name = "no_operators";
  issue.origin = "analysis";
  issue.source = "analyzer.lanes";
  issue.count = ranks;
  issue.detail = "no operator was recorded on " + std::to_string(ranks) +
                 (ranks == 1 ? " rank" : " ranks") +
                 ": compute is unknown there, and the time that is neither communication nor "
                 "input wait is counted as idle, unexplained";
  issue.advice = "record with the torch source (--trace torch,...)";
  return context.AddIssue(issue);
}

Status Run(RunContext& context) {
  int64_t without_operators = 0;
  const Status written =
      context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) -> Status {
        TUTTI_RETURN_IF_ERROR(WriteThreads(context, rank, trace));
        TUTTI_RETURN_IF_ERROR(WriteStreams(context, rank, trace));
        TUTTI_RETURN_IF_ERROR(OfferRules(context, rank, trace));
        TUTTI_ASSIGN_OR_RETURN(const auto ops, trace.Ops());
        TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
        without_operators += ops.empty() && events.empty() ? 1 : 0;
        return OkStatus();
      });
  return written.ok() ? WriteNoOperators(context, without_operators) : written;
}

}  // namespace

extern const Pass kLanesPass;
const Pass kLanesPass{"lanes", Run};

}  // namespace tutti::analyzer
