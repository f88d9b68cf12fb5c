#include "collector/importers/nsys/nccl_ranges.h"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "collector/conventions/nccl_call.h"
#include "collector/conventions/nccl_payload.h"

namespace tutti::collector::importers::nsys {
namespace {

conventions::NcclPayload PayloadOf(const MarkedRange& range) {
  return range.payload == nullptr ? conventions::NcclPayload()
                                  : conventions::NcclPayloadOf(*range.payload);
}

std::string Hex(uint64_t value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace

void NcclRanges::OnRange(const MarkedRange& range) {
  if (range.name == "ncclGroupStart") {
    groups_[range.global_tid].Start();
    return;
  }
  if (range.name == "ncclGroupEnd") return WriteLaunched(range, groups_[range.global_tid].End());
  if (range.name.starts_with("ncclCommInit") || range.name.starts_with("ncclCommSplit")) {
    return OnInit(range);
  }
  const std::string_view op = conventions::CollectiveOpOfNcclCall(range.name);
  if (!op.empty()) OnCall(range, op);
}

void NcclRanges::OnInit(const MarkedRange& range) {
  called_before_ = called_before_ || (made_ == 0 && calls_ > 0);
  ++made_;
  const conventions::NcclPayload payload = PayloadOf(range);
  if (!payload.ranks || !payload.rank) return;
  schema::CommunicatorRow& row =
      payload.communicator ? communicators_[*payload.communicator] : unnumbered_;
  row.group_size = payload.ranks;
  row.group_rank = payload.rank;
  if (*payload.ranks > world_.size) world_ = {*payload.ranks, *payload.rank};
}

int64_t NcclRanges::IdOf(schema::CommunicatorRow& row) {
  if (row.backend.empty()) {
    row.id = rank_.sink().NextId<schema::CommunicatorRow>();
    row.ordinal = row.id;
    row.backend = "nccl";
  }
  return row.id;
}

std::optional<int64_t> NcclRanges::CommunicatorOf(const conventions::NcclPayload& payload) {
  if (payload.communicator) return IdOf(communicators_[*payload.communicator]);
  if (made_ != 1 || called_before_ || communicators_.size() > 1) return std::nullopt;
  return IdOf(communicators_.empty() ? unnumbered_ : communicators_.begin()->second);
}

void NcclRanges::OnCall(const MarkedRange& range, std::string_view op) {
  ++calls_;
  const conventions::NcclPayload payload = PayloadOf(range);
  schema::CollectiveSourceRow row;
  row.origin = "nccl_nvtx";
  row.communicator_id = CommunicatorOf(payload);
  row.op_id = rank_.Intern(op);
  row.bytes = payload.bytes;
  row.enqueue_ns = range.begin_ns;
  row.tid = range.tid;
  row.enqueue_tid = range.tid;
  row.peer = payload.peer;
  row.root = payload.root;
  auto& group = groups_[range.global_tid];
  if (group.is_open()) {
    group.Add(std::move(row));
  } else {
    Calls calls;
    calls.push_back(std::move(row));
    WriteLaunched(range, std::move(calls));
  }
}

// Calls whose kernels are launched within |launcher|: the call itself, or the end of its group.
void NcclRanges::WriteLaunched(const MarkedRange& launcher, Calls calls) {
  if (calls.empty()) return;
  const auto kernels = launches_.Within(rank_.place(), launcher.global_tid, launcher.begin_ns,
                                        launcher.end_ns.value_or(launcher.begin_ns));
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto kernel = conventions::KernelOfNcclCall(i, calls.size(), kernels.size());
    Write(std::move(calls[i]), kernel ? &kernels[*kernel] : nullptr);
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
    for (schema::CollectiveSourceRow& row : group.Rest()) Write(std::move(row), nullptr);
  }
  groups_.clear();
  for (auto& [number, row] : communicators_) {
    if (row.backend.empty()) continue;
    row.uid = Hex(number);
    rank_.sink().Append(row);
  }
  if (!unnumbered_.backend.empty()) rank_.sink().Append(unnumbered_);
}

}  // namespace tutti::collector::importers::nsys
