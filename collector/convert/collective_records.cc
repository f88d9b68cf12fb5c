#include "collector/convert/collective_records.h"

#include <utility>

namespace tutti::collector::convert {
namespace {

bool MayBeOneCommunicator(uint32_t a, uint32_t b) { return a == 0 || b == 0 || a == b; }

std::optional<int64_t> NonNegative(int64_t value) {
  if (value < 0) return std::nullopt;
  return value;
}

}  // namespace

void CollectiveRecords::OnEnqueue(ThreadTable::Index thread,
                                  const wire::CollectiveEnqueueRecord& record) {
  const int64_t time_ns = context_.TimeOf(record.ticks);
  context_.threads.SawTime(thread, time_ns, time_ns);
  waiting_[record.work].push_back({thread, record});
}

std::optional<CollectiveRecords::Enqueue> CollectiveRecords::TakeEnqueue(uint64_t work,
                                                                         uint64_t begin_ticks,
                                                                         uint32_t communicator) {
  const auto waiting = waiting_.find(work);
  if (work == 0 || waiting == waiting_.end()) return std::nullopt;
  std::vector<Enqueue>& enqueues = waiting->second;
  for (size_t after = enqueues.size(); after > 0; --after) {
    const Enqueue enqueue = enqueues[after - 1];
    if (enqueue.record.ticks > begin_ticks ||
        !MayBeOneCommunicator(enqueue.record.communicator, communicator)) {
      continue;
    }
    enqueues.erase(enqueues.begin() + static_cast<ptrdiff_t>(after - 1));
    if (enqueues.empty()) waiting_.erase(waiting);
    return enqueue;
  }
  return std::nullopt;
}

schema::CollectiveSourceRow CollectiveRecords::RowFor(uint32_t communicator, int64_t sequence) {
  schema::CollectiveSourceRow row;
  const wire::Backend backend = context_.communicators.BackendOf(communicator);
  const bool runs_on_cpu = backend != wire::Backend::kNccl;
  row.origin = runs_on_cpu ? "gloo_op" : "c10d";
  row.communicator_id = context_.communicators.IdOf(communicator);
  row.sequence = NonNegative(sequence);
  return row;
}

void CollectiveRecords::OnCollective(ThreadTable::Index thread,
                                     const wire::CollectiveRecord& record) {
  const Span span = context_.SpanOf(record.begin_ticks, record.end_ticks);
  context_.threads.SawTime(thread, span.begin_ns, span.end_ns);
  Write(thread, record, span.end_ns);
}

void CollectiveRecords::OnOpenSpan(ThreadTable::Index thread, const wire::OpenSpan& span) {
  wire::CollectiveRecord record{};
  record.header.name = span.name;
  record.begin_ticks = span.begin_ticks;
  record.work = span.aux;
  record.bytes = static_cast<int64_t>(span.aux2);
  record.sequence = -1;  // the enqueue may know it
  record.communicator = span.domain;
  record.peer = -1;
  record.root = -1;
  Write(thread, record, std::nullopt);
}

void CollectiveRecords::Write(ThreadTable::Index thread, const wire::CollectiveRecord& record,
                              std::optional<int64_t> end_ns) {
  const std::optional<Enqueue> enqueue =
      TakeEnqueue(record.work, record.begin_ticks, record.communicator);
  uint32_t communicator = record.communicator;
  int64_t sequence = record.sequence;
  if (enqueue && communicator == 0) communicator = enqueue->record.communicator;
  if (enqueue && sequence < 0) sequence = enqueue->record.sequence;

  schema::CollectiveSourceRow row = RowFor(communicator, sequence);
  row.op_id = context_.strings.IdOf(record.header.name);
  row.dtype_id = context_.strings.IdOf(record.dtype);
  row.bytes = NonNegative(record.bytes);
  row.begin_ns = context_.TimeOf(record.begin_ticks);
  row.end_ns = end_ns;
  row.tid = context_.threads.RowTid(thread);
  if (enqueue) {
    row.enqueue_ns = context_.TimeOf(enqueue->record.ticks);
    row.enqueue_tid = context_.threads.RowTid(enqueue->thread);
  }
  row.peer = NonNegative(record.peer);
  row.root = NonNegative(record.root);
  context_.threads.SetSeen(thread, ThreadTable::Seen::kCollective);
  if (!context_.Wanted(*row.begin_ns, end_ns.value_or(INT64_MAX))) return;
  row.id = context_.next_id.collective++;
  context_.rows.Append(std::move(row));
}

void CollectiveRecords::WriteNeverBegun(const Enqueue& enqueue) {
  schema::CollectiveSourceRow row = RowFor(enqueue.record.communicator, enqueue.record.sequence);
  row.op_id = context_.strings.IdOf(enqueue.record.header.name);
  row.enqueue_ns = context_.TimeOf(enqueue.record.ticks);
  row.enqueue_tid = context_.threads.RowTid(enqueue.thread);
  if (!context_.Wanted(*row.enqueue_ns, INT64_MAX)) return;
  row.id = context_.next_id.collective++;
  context_.rows.Append(std::move(row));
}

void CollectiveRecords::Finish() {
  for (const auto& [work, enqueues] : waiting_) {
    for (const Enqueue& enqueue : enqueues) WriteNeverBegun(enqueue);
  }
  waiting_.clear();
}

}  // namespace tutti::collector::convert
