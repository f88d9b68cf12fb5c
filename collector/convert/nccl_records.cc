#include "collector/convert/nccl_records.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "collector/conventions/nccl_call.h"

namespace tutti::collector::convert {
namespace {

// How much later than its launch a kernel may run and be told: CUPTI hands over what is complete
// each second.
constexpr int64_t kLatenessNs = 10'000'000'000;

// Beyond this many of a kind the oldest are given up: nobody calls NCCL that often in kLatenessNs.
constexpr size_t kMostWaiting = 1'000'000;

}  // namespace

void NcclRecords::OnRange(const schema::RangeRow& range, std::string_view name) {
  if (range.kind != "push_pop" || !range.end_ns) return;
  Range entry{Kind::kCall, range.tid, range.begin_ns, *range.end_ns, {}, {}};
  if (range.payload && std::holds_alternative<std::string>(*range.payload)) {
    entry.payload = conventions::ParseNcclPayload(std::get<std::string>(*range.payload));
  }
  const auto& payload = entry.payload;
  if (payload.communicator && payload.ranks && payload.rank) {
    context_.communicators.AnnounceNccl(*payload.communicator, *payload.rank, *payload.ranks);
  }
  if (name == "ncclGroupStart") entry.kind = Kind::kGroupStart;
  if (name == "ncclGroupEnd") entry.kind = Kind::kGroupEnd;
  entry.op = conventions::CollectiveOpOfNcclCall(name);
  if (entry.kind == Kind::kCall && entry.op.empty()) return;
  if (ranges_.size() < kMostWaiting) ranges_.push_back(std::move(entry));
}

void NcclRecords::OnLaunch(int64_t tid, int64_t begin_ns, int64_t correlation_id) {
  std::vector<Launch>& launches = threads_[tid].launches;
  if (launches.size() < kMostWaiting) launches.push_back({begin_ns, correlation_id});
}

void NcclRecords::OnCommunicator(const wire::NcclCommunicatorRecord& record) {
  context_.communicators.AnnounceNccl(record.hash, record.rank, record.size);
}

void NcclRecords::OnPluginCall(ThreadTable::Index thread, const wire::NcclCallRecord& record) {
  StringTable& strings = context_.strings;
  const std::string_view op =
      conventions::CollectiveOpOfNcclCall("nccl" + std::string(strings.TextOf(record.header.name)));
  const auto type = conventions::DatatypeOfNccl(strings.TextOf(record.datatype));
  const auto text = [&](uint32_t index) -> std::optional<std::string> {
    const std::string_view stored = strings.TextOf(index);
    if (stored.empty()) return std::nullopt;
    return std::string(stored);
  };
  int64_t bytes = 0;
  const bool is_known =
      !op.empty() && record.count <= INT64_MAX && type.bytes > 0 &&
      !__builtin_mul_overflow(static_cast<int64_t>(record.count), type.bytes, &bytes);
  if (!is_known || waiting_plugin_calls_ >= kMostWaiting) return CountOddCall();
  PluginCall call;
  call.time_ns = context_.TimeOf(record.ticks);
  call.tid = context_.threads.RowTid(thread);
  context_.threads.SawTime(thread, call.time_ns, call.time_ns);
  if (record.sequence >= 0) call.sequence = record.sequence;
  const bool is_rooted = op == "broadcast" || op == "reduce" || op == "gather" || op == "scatter";
  if (record.is_collective == 0) call.peer = record.root_or_peer;
  if (record.is_collective != 0 && is_rooted) call.root = record.root_or_peer;
  call.dtype_id = strings.Intern(type.dtype);
  call.algorithm = text(record.algorithm);
  call.protocol = text(record.protocol);
  if (record.channels > 0) call.channels = record.channels;
  plugin_calls_[{record.communicator, op, bytes}].push_back(std::move(call));
  ++waiting_plugin_calls_;
}

void NcclRecords::CountOddCall() {
  context_.findings.Add({wire::NoteSeverity::kNotice, "nccl_call_unknown", "collector.convert",
                         "calls that NCCL's plugin told of with an operation or type that this "
                         "build does not know",
                         ""});
}

void NcclRecords::OnKernel(const schema::KernelRow& kernel, const conventions::NcclKernel& names) {
  if (kernel.begin_ns && kernel.correlation_id && kernels_.size() < kMostWaiting) {
    kernels_.insert_or_assign(*kernel.correlation_id, Kernel{*kernel.begin_ns, *kernel.end_ns,
                                                             kernel.device_id, kernel.stream_id});
  }
  if (names.op.empty()) return;  // sends and receives in one: NCCL's ranges tell which
  schema::CollectiveSourceRow row;
  row.id = context_.next_id.collective++;
  row.origin = "kernel";
  row.op_id = context_.strings.Intern(names.op);
  if (!names.dtype.empty()) row.dtype_id = context_.strings.Intern(names.dtype);
  row.begin_ns = kernel.begin_ns;
  row.end_ns = kernel.end_ns;
  row.device_id = kernel.device_id;
  row.stream_id = kernel.stream_id;
  row.correlation_id = kernel.correlation_id;
  if (!names.algorithm.empty()) row.algorithm = names.algorithm;
  if (!names.protocol.empty()) row.protocol = names.protocol;
  context_.rows.Append(std::move(row));
}

void NcclRecords::Advance(int64_t now_ns) { WriteUntil(now_ns - kLatenessNs); }

void NcclRecords::Finish() {
  WriteUntil(std::numeric_limits<int64_t>::max());
  for (auto& [tid, thread] : threads_) {
    for (const Range& call : thread.group.Rest()) Write(call, nullptr);
  }
}

void NcclRecords::WriteUntil(int64_t limit_ns) {
  if (ranges_.empty() && kernels_.empty() && threads_.empty() && plugin_calls_.empty()) return;
  std::sort(ranges_.begin(), ranges_.end(),
            [](const Range& a, const Range& b) { return a.begin_ns < b.begin_ns; });
  for (auto& [tid, thread] : threads_) {
    std::sort(thread.launches.begin(), thread.launches.end(),
              [](const Launch& a, const Launch& b) { return a.begin_ns < b.begin_ns; });
  }
  auto range = ranges_.begin();
  for (; range != ranges_.end() && range->end_ns <= limit_ns; ++range) {
    Thread& thread = threads_[range->tid];
    if (range->kind == Kind::kGroupStart) {
      thread.group.Start();
    } else if (range->kind == Kind::kGroupEnd) {
      WriteLaunched(thread, *range, thread.group.End());
    } else if (thread.group.is_open()) {
      thread.group.Add(*range);
    } else {
      WriteLaunched(thread, *range, {*range});
    }
  }
  ranges_.erase(ranges_.begin(), range);
  // What no range that is still to come can enclose.
  const int64_t first_ns = ranges_.empty() ? limit_ns : ranges_.front().begin_ns;
  const int64_t keep_ns = std::min(limit_ns, first_ns);
  for (auto& [tid, thread] : threads_) {
    std::erase_if(thread.launches, [&](const Launch& l) { return l.begin_ns < keep_ns; });
  }
  WritePluginCalls(keep_ns);
  std::erase_if(kernels_, [&](const auto& kernel) { return kernel.second.begin_ns < keep_ns; });
}

// Calls whose kernels are launched within |launcher|: the call itself, or the end of its group.
void NcclRecords::WriteLaunched(const Thread& thread, const Range& launcher,
                                const std::vector<Range>& calls) {
  if (calls.empty()) return;
  const auto kernels = KernelsWithin(thread, launcher);
  for (size_t i = 0; i < calls.size(); ++i) {
    const auto kernel = conventions::KernelOfNcclCall(i, calls.size(), kernels.size());
    Write(calls[i], kernel ? &kernels[*kernel] : nullptr);
  }
}

// A call that its range does not come before, in the order in which they were made.
std::optional<NcclRecords::PluginCall> NcclRecords::TakePluginCall(const CallKey& key,
                                                                   int64_t begin_ns) {
  const auto calls = plugin_calls_.find(key);
  if (calls == plugin_calls_.end()) return std::nullopt;
  std::deque<PluginCall>& queue = calls->second;
  const auto call = std::find_if(queue.begin(), queue.end(), [&](const PluginCall& candidate) {
    return candidate.time_ns >= begin_ns;
  });
  if (call == queue.end()) return std::nullopt;
  PluginCall taken = std::move(*call);
  queue.erase(call);
  --waiting_plugin_calls_;
  if (queue.empty()) plugin_calls_.erase(calls);
  return taken;
}

void NcclRecords::Fill(schema::CollectiveSourceRow& row, const PluginCall& call) {
  row.sequence = call.sequence;
  row.dtype_id = call.dtype_id;
  if (!row.peer) row.peer = call.peer;
  if (!row.root) row.root = call.root;
  row.algorithm = call.algorithm;
  row.protocol = call.protocol;
  row.channels = call.channels;
}

// Those that no range told of: NCCL's NVTX is off, or its ranges were lost.
void NcclRecords::WritePluginCalls(int64_t limit_ns) {
  for (auto& [key, queue] : plugin_calls_) {
    const auto& [communicator, op, bytes] = key;
    for (; !queue.empty() && queue.front().time_ns < limit_ns; queue.pop_front()) {
      const PluginCall& call = queue.front();
      --waiting_plugin_calls_;
      if (!context_.Wanted(call.time_ns, call.time_ns)) continue;
      schema::CollectiveSourceRow row;
      row.id = context_.next_id.collective++;
      row.origin = "nccl_plugin";
      row.communicator_id = context_.communicators.IdOfNccl(communicator);
      row.op_id = context_.strings.Intern(op);
      row.bytes = bytes;
      row.enqueue_ns = call.time_ns;
      row.tid = call.tid;
      row.enqueue_tid = call.tid;
      Fill(row, call);
      context_.rows.Append(std::move(row));
    }
  }
  std::erase_if(plugin_calls_, [](const auto& entry) { return entry.second.empty(); });
}

std::vector<NcclRecords::Found> NcclRecords::KernelsWithin(const Thread& thread,
                                                           const Range& range) const {
  std::vector<Found> found;
  auto launch = std::lower_bound(
      thread.launches.begin(), thread.launches.end(), range.begin_ns,
      [](const Launch& candidate, int64_t time_ns) { return candidate.begin_ns < time_ns; });
  for (; launch != thread.launches.end() && launch->begin_ns < range.end_ns; ++launch) {
    const auto kernel = kernels_.find(launch->correlation_id);
    if (kernel != kernels_.end()) found.push_back({launch->correlation_id, kernel->second});
  }
  return found;
}

void NcclRecords::Write(const Range& range, const Found* found) {
  if (!context_.Wanted(range.begin_ns, range.end_ns)) return;
  schema::CollectiveSourceRow row;
  row.id = context_.next_id.collective++;
  row.origin = "nccl_nvtx";
  if (range.payload.communicator) {
    row.communicator_id = context_.communicators.IdOfNccl(*range.payload.communicator);
  }
  row.op_id = context_.strings.Intern(range.op);
  row.bytes = range.payload.bytes;
  row.enqueue_ns = range.begin_ns;
  row.tid = range.tid;
  row.enqueue_tid = range.tid;
  row.peer = range.payload.peer;
  row.root = range.payload.root;
  const CallKey key{range.payload.communicator.value_or(0), range.op,
                    range.payload.bytes.value_or(-1)};
  if (auto told = TakePluginCall(key, range.begin_ns)) Fill(row, *told);
  if (found != nullptr) {
    row.begin_ns = found->kernel.begin_ns;
    row.end_ns = found->kernel.end_ns;
    row.device_id = found->kernel.device_id;
    row.stream_id = found->kernel.stream_id;
    row.correlation_id = found->correlation_id;
  }
  context_.rows.Append(std::move(row));
}

}  // namespace tutti::collector::convert
