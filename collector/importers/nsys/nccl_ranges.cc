#include "collector/importers/nsys/nccl_ranges.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "collector/conventions/nccl_call.h"

namespace tutti::collector::importers::nsys {
namespace {

// Names of payload fields: NCCL's src/include/nvtx_payload_schemas.h.
constexpr const char* kCommunicator = "NCCL communicator ID";
constexpr const char* kBytes = "Message size [bytes]";
constexpr const char* kPeer = "Peer rank";
constexpr const char* kRoot = "Root";
constexpr const char* kRanks = "No. of ranks";
constexpr const char* kRank = "Rank";

std::optional<uint64_t> Unsigned(const nlohmann::ordered_json* payload, const char* name) {
  if (payload == nullptr || !payload->is_object()) return std::nullopt;
  const auto field = payload->find(name);
  if (field == payload->end() || !field->is_number_integer()) return std::nullopt;
  if (!field->is_number_unsigned() && field->get<int64_t>() < 0) return std::nullopt;
  return field->get<uint64_t>();
}

std::optional<int64_t> Number(const nlohmann::ordered_json* payload, const char* name) {
  const auto value = Unsigned(payload, name);
  if (!value || *value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(*value);
}

std::string Hex(uint64_t value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace

void NcclRanges::OnRange(const MarkedRange& range) {
  if (range.name == "ncclGroupStart") {
    ++groups_[range.global_tid].depth;
    return;
  }
  if (range.name == "ncclGroupEnd") return OnGroupEnd(range);
  if (range.name.starts_with("ncclCommInit") || range.name.starts_with("ncclCommSplit")) {
    return OnInit(range);
  }
  const std::string_view op = conventions::CollectiveOpOfNcclCall(range.name);
  if (!op.empty()) OnCall(range, op);
}

void NcclRanges::OnInit(const MarkedRange& range) {
  const auto hash = Unsigned(range.payload, kCommunicator);
  const auto size = Number(range.payload, kRanks);
  const auto rank = Number(range.payload, kRank);
  if (!hash || !size || !rank) return;
  schema::CommunicatorRow& row = communicators_[*hash];
  row.group_size = size;
  row.group_rank = rank;
  if (*size > world_.size) world_ = {*size, *rank};
}

int64_t NcclRanges::CommunicatorOf(uint64_t hash) {
  schema::CommunicatorRow& row = communicators_[hash];
  if (row.backend.empty()) {
    row.id = rank_.sink().NextId<schema::CommunicatorRow>();
    row.ordinal = row.id;
    row.backend = "nccl";
    row.uid = Hex(hash);
  }
  return row.id;
}

void NcclRanges::OnCall(const MarkedRange& range, std::string_view op) {
  ++calls_;
  schema::CollectiveSourceRow row;
  row.origin = "nccl_nvtx";
  if (const auto hash = Unsigned(range.payload, kCommunicator)) {
    row.communicator_id = CommunicatorOf(*hash);
  }
  row.op_id = rank_.Intern(op);
  row.bytes = Number(range.payload, kBytes);
  row.enqueue_ns = range.begin_ns;
  row.tid = range.tid;
  row.enqueue_tid = range.tid;
  row.peer = Number(range.payload, kPeer);
  row.root = Number(range.payload, kRoot);
  Group& group = groups_[range.global_tid];
  if (group.depth > 0) {
    group.calls.push_back(std::move(row));
    return;
  }
  const auto kernels = launches_.Within(rank_.place(), range.global_tid, range.begin_ns,
                                        range.end_ns.value_or(range.begin_ns));
  Write(std::move(row), kernels.size() == 1 ? &kernels.front() : nullptr);
}

void NcclRanges::OnGroupEnd(const MarkedRange& range) {
  Group& group = groups_[range.global_tid];
  if (group.depth > 0) --group.depth;  // a capture may begin inside a group
  if (group.depth > 0) return;
  const auto kernels = launches_.Within(rank_.place(), range.global_tid, range.begin_ns,
                                        range.end_ns.value_or(range.begin_ns));
  std::vector<schema::CollectiveSourceRow> calls = std::exchange(group.calls, {});
  const bool is_one_each = kernels.size() == calls.size();
  for (size_t i = 0; i < calls.size(); ++i) {
    const NcclKernel* kernel = nullptr;
    if (kernels.size() == 1) kernel = &kernels.front();
    if (is_one_each) kernel = &kernels[i];
    Write(std::move(calls[i]), kernel);
  }
}

void NcclRanges::Write(schema::CollectiveSourceRow row, const NcclKernel* kernel) {
  if (kernel != nullptr) {
    ++linked_;
    row.begin_ns = kernel->begin_ns;
    row.end_ns = kernel->end_ns;
    row.device_id = kernel->device_id;
    row.stream_id = kernel->stream_id;
    row.correlation_id = kernel->correlation_id;
  }
  rank_.Append(std::move(row));
}

void NcclRanges::Finish() {
  for (auto& [thread, group] : groups_) {
    for (schema::CollectiveSourceRow& row : group.calls) Write(std::move(row), nullptr);
  }
  groups_.clear();
  for (auto& [hash, row] : communicators_) {
    if (!row.backend.empty()) rank_.sink().Append(row);
  }
}

}  // namespace tutti::collector::importers::nsys
