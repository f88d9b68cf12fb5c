// The report for programs: schema tutti.report/1. Times are integer nanoseconds, so
// that the parts of the breakdown add up exactly. What is not available is null.
#include <nlohmann/json.hpp>

#include "analyzer/report/render.h"
#include "common/text.h"

namespace tutti::analyzer {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

std::string Clean(const std::string& text) { return ToStorableText(text); }

Json RunOf(const ReportData& data) {
  Json run;
  run["ranks"] = data.ranks.size();
  run["ranks_expected"] = data.MetaInteger("run.ranks_expected");
  run["steps"] = data.steps.size();
  run["steady_steps"] =
      data.Text("step.basis") == "steady" ? data.Integer("step.count").value_or(0) : 0;
  run["steps_basis"] = data.Text("step.basis");
  run["steps_origin"] = data.steps.empty() ? "" : data.steps.front().origin;
  run["workload"] = Clean(data.Meta("run.workload"));
  run["attempt"] = data.ranks.empty() ? 0 : data.ranks.front().attempt;
  run["wall_ns"] = OrNull(data.Integer("run.wall_ns"));
  run["clock_error_ns"] = OrNull(data.Integer("run.clock_error_ns"));
  return run;
}

Json IssueOf(const schema::DataIssueRow& issue) {
  Json json;
  json["severity"] = issue.severity;
  json["name"] = Clean(issue.name);
  json["source"] = Clean(issue.source);
  json["rank"] = OrNull(issue.rank);
  json["count"] = issue.count;
  json["first_step"] = OrNull(issue.first_step);
  json["last_step"] = OrNull(issue.last_step);
  json["detail"] = Clean(issue.detail);
  json["advice"] = Clean(issue.advice);
  return json;
}

Json QualityOf(const ReportData& data) {
  Json quality;
  quality["events"] = data.Integer("run.events").value_or(0);
  quality["events_lost"] = data.Integer("run.events_lost").value_or(0);
  quality["issues"] = Json::array();
  for (const schema::DataIssueRow& issue : data.issues) quality["issues"].push_back(IssueOf(issue));
  return quality;
}

Json StepOf(const ReportData& data) {
  Json step;
  step["median_ns"] = OrNull(data.Integer("step.median_ns"));
  step["p99_ns"] = OrNull(data.Integer("step.p99_ns"));
  step["mean_ns"] = OrNull(data.Integer("step.mean_ns"));
  step["period_median_ns"] = OrNull(data.Integer("step.period_median_ns"));
  step["period_p99_ns"] = OrNull(data.Integer("step.period_p99_ns"));
  step["between_median_ns"] = OrNull(data.Integer("step.between_median_ns"));
  step["breakdown_ns"] = Json::object();
  step["breakdown_total_ns"] = Json::object();
  for (const schema::PartSummaryRow& part : data.parts) {
    step["breakdown_ns"][part.part] = OrNull(part.median_ns);
    step["breakdown_total_ns"][part.part] = part.total_ns;
  }
  step["total_ns"] = data.Integer("step.total_ns").value_or(0);
  return step;
}

Json OverlapOf(const ReportData& data) {
  Json overlap;
  overlap["comm_ns"] = data.Integer("overlap.comm_ns").value_or(0);
  overlap["exposed_ns"] = data.Integer("overlap.exposed_ns").value_or(0);
  overlap["overlap_frac"] = OrNull(data.Real("overlap.frac"));
  return overlap;
}

Json ThroughputOf(const ReportData& data) {
  Json throughput;
  throughput["steps_per_s"] = OrNull(data.Real("throughput.steps_per_s"));
  throughput["samples_per_s"] = OrNull(data.Real("throughput.samples_per_s"));
  throughput["tokens_per_s"] = OrNull(data.Real("throughput.tokens_per_s"));
  throughput["flop_per_s"] = OrNull(data.Real("compute.flop_per_s"));
  throughput["mfu_frac"] = OrNull(data.Real("compute.mfu_frac"));
  return throughput;
}

Json RankOf(const ReportData& data, const schema::RankRow& rank) {
  Json json;
  json["rank"] = rank.rank;
  json["host"] = Clean(rank.host);
  json["device_kind"] = rank.device_kind;
  json["events"] = rank.events;
  json["events_lost"] = rank.events_lost;
  json["finished"] = rank.is_finished == 1;
  json["exit_status"] = OrNull(rank.exit_status);
  for (const schema::RankSummaryRow& summary : data.rank_summaries) {
    if (summary.rank != rank.rank) continue;
    json["steps"] = summary.steps;
    json["step_median_ns"] = OrNull(summary.step_median_ns);
    json["step_p99_ns"] = OrNull(summary.step_p99_ns);
    json["step_total_ns"] = summary.step_total_ns;
    json["comm_ns"] = summary.comm_ns;
    json["exposed_ns"] = summary.exposed_ns;
    json["samples"] = OrNull(summary.samples);
    json["tokens"] = OrNull(summary.tokens);
  }
  json["breakdown_ns"] = Json::object();
  json["breakdown_total_ns"] = Json::object();
  const auto parts = data.rank_parts.find(rank.rank);
  for (const schema::PartSummaryRow& part : data.parts) {
    if (parts == data.rank_parts.end() || !parts->second.contains(part.part)) continue;
    json["breakdown_ns"][part.part] = parts->second.at(part.part).median_ns;
    json["breakdown_total_ns"][part.part] = parts->second.at(part.part).total_ns;
  }
  for (const schema::StragglerRow& straggler : data.stragglers) {
    if (straggler.rank != rank.rank) continue;
    json["times_last"] = straggler.times_last;
    json["collectives"] = straggler.collectives;
    json["late_cost_ns"] = straggler.net_cost_ns;
    json["passed_on_wait_ns"] = data.PassedOnNs(rank.rank);
  }
  return json;
}

Json CollectiveOf(const ReportData& data, const schema::CollectiveSummaryRow& row) {
  Json json;
  json["communicator_id"] = row.communicator_id < 0 ? Json(nullptr) : Json(row.communicator_id);
  json["backend"] = nullptr;
  json["group"] = nullptr;
  json["group_size"] = nullptr;
  for (const schema::RunCommunicatorRow& group : data.communicators) {
    if (group.id != row.communicator_id) continue;
    json["backend"] = Clean(group.backend);
    json["group"] = group.description ? Json(Clean(*group.description))
                                      : (group.uid ? Json(Clean(*group.uid)) : Json(nullptr));
    json["group_size"] = OrNull(group.size);
  }
  json["op"] = Clean(row.op);
  json["dtype"] = row.dtype.empty() ? Json(nullptr) : Json(Clean(row.dtype));
  json["bytes"] = row.bytes < 0 ? Json(nullptr) : Json(row.bytes);
  json["count"] = row.count;
  json["complete"] = row.complete;
  json["wait_ns"] = row.wait_ns;
  json["transfer_ns"] = row.transfer_ns;
  json["p50_wait_ns"] = OrNull(row.p50_wait_ns);
  json["p50_skew_ns"] = OrNull(row.p50_skew_ns);
  json["p50_transfer_ns"] = OrNull(row.p50_transfer_ns);
  json["p99_transfer_ns"] = OrNull(row.p99_transfer_ns);
  json["p50_duration_ns"] = OrNull(row.p50_duration_ns);
  json["p50_busbw_gb_per_s"] = OrNull(row.p50_busbw_gb_per_s);
  json["busbw_of_raw_duration"] = row.is_bw_raw == 1;
  return json;
}

Json MemoryOf(const schema::MemoryPeakRow& row) {
  Json json;
  json["rank"] = row.rank;
  json["device_type"] = Clean(row.device_type);
  json["device_id"] = row.device_id < 0 ? Json(nullptr) : Json(row.device_id);
  json["peak_bytes"] = row.peak_bytes;
  json["peak_step"] = OrNull(row.peak_step);
  json["peak_reserved_bytes"] = OrNull(row.peak_reserved_bytes);
  json["end_bytes"] = row.end_bytes;
  json["allocations"] = row.allocations;
  json["releases"] = row.releases;
  json["ooms"] = row.ooms;
  return json;
}

Json HolderOf(const schema::MemoryHolderRow& row) {
  Json json;
  json["rank"] = row.rank;
  json["device_type"] = Clean(row.device_type);
  json["device_id"] = row.device_id < 0 ? Json(nullptr) : Json(row.device_id);
  json["bytes"] = row.bytes;
  json["blocks"] = row.blocks;
  json["stack"] = Clean(row.stack);
  return json;
}

Json MemoryStateOf(const schema::MemoryStateRow& row) {
  Json json;
  json["rank"] = row.rank;
  json["device_id"] = row.device_id;
  json["segments"] = row.segments;
  json["reserved_bytes"] = row.reserved_bytes;
  json["allocated_bytes"] = row.allocated_bytes;
  json["pending_bytes"] = row.pending_bytes;
  json["free_segment_bytes"] = row.free_segment_bytes;
  json["inactive_split_bytes"] = row.inactive_split_bytes;
  json["inactive_split_blocks"] = row.inactive_split_blocks;
  json["largest_free_bytes"] = row.largest_free_bytes;
  return json;
}

Json LoaderOf(const schema::LoaderRow& row) {
  Json json;
  json["rank"] = row.rank;
  json["name"] = Clean(row.name);
  json["waits"] = row.waits;
  json["wait_ns"] = row.wait_ns;
  json["p50_wait_ns"] = row.p50_wait_ns;
  json["p99_wait_ns"] = row.p99_wait_ns;
  json["empty_queue_frac"] = OrNull(row.empty_queue_frac);
  json["workers"] = OrNull(row.workers);
  json["p50_load_ns"] = OrNull(row.p50_load_ns);
  return json;
}

Json OperatorOf(const ReportOperator& op) {
  Json json;
  json["kind"] = op.kind;
  json["name"] = Clean(op.name);
  json["count"] = op.count;
  json["total_ns"] = op.total_ns;
  json["self_ns"] = op.self_ns;
  json["in_steps_count"] = op.in_steps_count;
  json["in_steps_self_ns"] = op.in_steps_self_ns;
  json["p50_ns"] = op.p50_ns;
  json["p99_ns"] = op.p99_ns;
  json["max_ns"] = op.max_ns;
  json["min_ns"] = op.min_ns;
  json["category"] = op.category.empty() ? Json(nullptr) : Json(op.category);
  json["uses_tensor_cores"] = OrNull(op.uses_tensor_cores);
  return json;
}

Json DeviceRowOf(const schema::DeviceSummaryRow& row) {
  Json json;
  json["rank"] = row.rank;
  json["device_id"] = row.device_id;
  json["kernels"] = row.kernels;
  json["copies"] = row.copies;
  json["span_ns"] = row.end_ns - row.begin_ns;
  json["busy_ns"] = row.busy_ns;
  json["compute_ns"] = row.compute_ns;
  json["comm_ns"] = row.comm_ns;
  json["copy_ns"] = row.copy_ns;
  json["work_ns"] = row.work_ns;
  json["gaps"] = row.gaps;
  json["idle_host_ns"] = row.idle_host_ns;
  json["idle_launched_ns"] = row.idle_launched_ns;
  json["idle_unknown_ns"] = row.idle_unknown_ns;
  json["tensor_able_ns"] = row.tensor_able_ns;
  json["tensor_core_ns"] = row.tensor_core_ns;
  return json;
}

// Shares are of the steps that count; null without a GPU.
Json DeviceOf(const ReportData& data) {
  if (data.devices.empty()) return nullptr;
  Json json;
  for (const char* name :
       {"busy_frac", "compute_frac", "comm_frac", "copy_frac", "idle_host_frac",
        "idle_launched_frac", "idle_unknown_frac", "kernels_per_step", "launch_mean_ns",
        "work_per_launch", "work_mean_ns", "tensor_core_frac"}) {
    json[name] = OrNull(data.Real("device." + std::string(name)));
  }
  json["devices"] = Json::array();
  for (const schema::DeviceSummaryRow& row : data.devices) {
    json["devices"].push_back(DeviceRowOf(row));
  }
  return json;
}

Json CategoryOf(const ReportCategory& row) {
  return {{"category", row.category}, {"count", row.count}, {"total_ns", row.total_ns}};
}

Json CopyOf(const schema::CopyStatsRow& row) {
  Json json;
  json["rank"] = row.rank;
  json["device_id"] = row.device_id;
  json["direction"] = Clean(row.direction);
  json["source"] = row.source.empty() ? Json(nullptr) : Json(Clean(row.source));
  json["destination"] = row.destination.empty() ? Json(nullptr) : Json(Clean(row.destination));
  json["count"] = row.count;
  json["bytes"] = row.bytes;
  json["total_ns"] = row.total_ns;
  json["exposed_ns"] = row.exposed_ns;
  json["p50_bytes"] = row.p50_bytes;
  json["gb_per_s"] = OrNull(row.gb_per_s);
  json["p50_gb_per_s"] = OrNull(row.p50_gb_per_s);
  json["max_gb_per_s"] = OrNull(row.max_gb_per_s);
  return json;
}

Json LaunchOf(const schema::LaunchStatsRow& row) {
  Json json;
  json["rank"] = row.rank;
  json["name"] = Clean(row.name);
  json["calls"] = row.calls;
  json["work"] = row.work;
  json["host_ns"] = row.host_ns;
  json["p50_ns"] = row.p50_ns;
  json["p99_ns"] = row.p99_ns;
  json["p50_delay_ns"] = row.p50_delay_ns;
  json["p99_delay_ns"] = row.p99_delay_ns;
  json["p50_queue_ns"] = row.p50_queue_ns;
  json["p99_queue_ns"] = row.p99_queue_ns;
  return json;
}

Json EvidenceOf(const schema::FindingEvidenceRow& row) {
  Json json;
  json["rank"] = OrNull(row.rank);
  json["table"] = row.source;
  json["row_id"] = OrNull(row.row_id);
  json["begin_ns"] = OrNull(row.begin_ns);
  json["end_ns"] = OrNull(row.end_ns);
  json["note"] = Clean(row.note);
  return json;
}

Json FindingOf(const ReportFinding& finding) {
  const schema::FindingRow& row = finding.row;
  Json json;
  json["id"] = row.kind;
  json["title"] = Clean(row.title);
  json["ranks"] = finding.ranks;
  json["first_step"] = OrNull(row.first_step);
  json["last_step"] = OrNull(row.last_step);
  json["steps_seen"] = row.steps_seen;
  json["cost_ns"] = OrNull(row.cost_ns);
  json["replayed_ns"] = OrNull(row.replayed_ns);
  json["share"] = OrNull(row.share);
  json["confidence"] = row.confidence;
  json["reason"] = Clean(row.reason);
  json["cause"] = row.cause ? Json(Clean(*row.cause)) : Json(nullptr);
  json["formula"] = row.formula;
  json["advice"] = Clean(row.advice);
  json["evidence"] = Json::array();
  for (const auto& evidence : finding.evidence) json["evidence"].push_back(EvidenceOf(evidence));
  return json;
}

template <typename Rows, typename Function>
Json ArrayOf(const Rows& rows, Function function) {
  Json array = Json::array();
  for (const auto& row : rows) array.push_back(function(row));
  return array;
}

}  // namespace

std::string RenderJson(const ReportData& data) {
  Json report;
  report["schema"] = "tutti.report/1";
  report["run"] = RunOf(data);
  report["data_quality"] = QualityOf(data);
  report["step"] = StepOf(data);
  report["overlap"] = OverlapOf(data);
  report["throughput"] = ThroughputOf(data);
  report["ranks"] = ArrayOf(data.ranks, [&](const auto& row) { return RankOf(data, row); });
  report["collectives"] =
      ArrayOf(data.collectives, [&](const auto& row) { return CollectiveOf(data, row); });
  report["memory"] = ArrayOf(data.memory, MemoryOf);
  report["memory_holders"] = ArrayOf(data.memory_holders, HolderOf);
  report["memory_states"] = ArrayOf(data.memory_states, MemoryStateOf);
  report["loaders"] = ArrayOf(data.loaders, LoaderOf);
  report["operators"] = ArrayOf(data.operators, OperatorOf);
  report["device"] = DeviceOf(data);
  report["kernel_categories"] = ArrayOf(data.categories, CategoryOf);
  report["copies"] = ArrayOf(data.copies, CopyOf);
  report["launches"] = ArrayOf(data.launches, LaunchOf);
  report["findings"] = ArrayOf(data.findings, FindingOf);
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::analyzer
