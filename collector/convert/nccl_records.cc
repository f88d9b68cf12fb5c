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
    for (const Range& call : std::exchange(thread.group, {})) Write(call, nullptr);
  }
}

void NcclRecords::WriteUntil(int64_t limit_ns) {
  if (ranges_.empty() && kernels_.empty() && threads_.empty()) return;
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
      ++thread.depth;
    } else if (range->kind == Kind::kGroupEnd) {
      OnGroupEnd(thread, *range);
    } else if (thread.depth > 0) {
      thread.group.push_back(*range);
    } else {
      const auto kernels = KernelsWithin(thread, *range);
      Write(*range, kernels.size() == 1 ? &kernels.front() : nullptr);
    }
  }
  ranges_.erase(ranges_.begin(), range);
  // What no range that is still to come can enclose.
  const int64_t first_ns = ranges_.empty() ? limit_ns : ranges_.front().begin_ns;
  const int64_t keep_ns = std::min(limit_ns, first_ns);
  for (auto& [tid, thread] : threads_) {
    std::erase_if(thread.launches, [&](const Launch& l) { return l.begin_ns < keep_ns; });
  }
  std::erase_if(kernels_, [&](const auto& kernel) { return kernel.second.begin_ns < keep_ns; });
}

// A capture may begin inside a group: its end has no start then.
void NcclRecords::OnGroupEnd(Thread& thread, const Range& range) {
  if (thread.depth > 0) --thread.depth;
  if (thread.depth > 0) return;
  const auto kernels = KernelsWithin(thread, range);
  const std::vector<Range> calls = std::exchange(thread.group, {});
  for (size_t i = 0; i < calls.size(); ++i) {
    const Found* found = nullptr;
    if (kernels.size() == 1) found = &kernels.front();
    if (kernels.size() == calls.size()) found = &kernels[i];
    Write(calls[i], found);
  }
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
