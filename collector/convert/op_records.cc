#include "collector/convert/op_records.h"

#include <algorithm>
#include <utility>

namespace tutti::collector::convert {
namespace {

// Values of at::RecordScope (ATen/record_function.h).
constexpr uint8_t kBackwardFunction = 1;
constexpr uint8_t kUserScope = 7;

std::optional<int64_t> KnownTid(uint64_t torch_tid) {
  if (torch_tid == 0) return std::nullopt;
  return static_cast<int64_t>(torch_tid);
}

}  // namespace

void OpRecords::OnCpuOp(ThreadTable::Index thread, const wire::CpuOpRecord& record) {
  const Span span = context_.SpanOf(record.begin_ticks, record.end_ticks);
  const Op op{thread,           record.header.name, record.shapes,
              record.scope,     record.depth,       record.sequence_nr,
              record.torch_tid, record.forward_tid, span.begin_ns};
  Write(op, span.end_ns, std::nullopt);
  NoteThread(op, span.end_ns);
}

void OpRecords::OnAsyncBegin(ThreadTable::Index thread, const wire::AsyncBeginRecord& record) {
  const AsyncBegin begin{
      {thread, record.header.name, record.shapes, record.scope, record.depth, record.sequence_nr,
       record.torch_tid, record.forward_tid, context_.TimeOf(record.ticks)},
      record.ticks};
  // The tracer may find out late that an operator is asynchronous: its end is here already.
  auto earliest = ends_.end();
  const auto [first, last] = ends_.equal_range(record.identity);
  for (auto end = first; end != last; ++end) {
    if (end->second.record.ticks < record.ticks) continue;
    if (earliest == ends_.end() || end->second.record.ticks < earliest->second.record.ticks) {
      earliest = end;
    }
  }
  if (earliest == ends_.end()) {
    begins_.emplace(record.identity, begin);
    return;
  }
  WriteJoined(begin, earliest->second);
  ends_.erase(earliest);
}

void OpRecords::OnAsyncEnd(ThreadTable::Index thread, const wire::AsyncEndRecord& record) {
  auto latest = begins_.end();
  const auto [first, last] = begins_.equal_range(record.identity);
  for (auto begin = first; begin != last; ++begin) {
    if (begin->second.ticks > record.ticks) continue;
    if (latest == begins_.end() || begin->second.ticks >= latest->second.ticks) latest = begin;
  }
  if (latest == begins_.end()) {
    ends_.emplace(record.identity, AsyncEnd{thread, record});
    return;
  }
  WriteJoined(latest->second, {thread, record});
  begins_.erase(latest);
}

void OpRecords::WriteJoined(AsyncBegin begin, const AsyncEnd& end) {
  if (begin.op.sequence_nr < 0) begin.op.sequence_nr = end.record.sequence_nr;
  if (begin.op.torch_tid == 0) begin.op.torch_tid = end.record.torch_tid;
  if (begin.op.forward_tid == 0) begin.op.forward_tid = end.record.forward_tid;
  const int64_t end_ns = std::max(begin.op.begin_ns, context_.TimeOf(end.record.ticks));
  Write(begin.op, end_ns, end.thread);
  NoteThread(begin.op, begin.op.begin_ns);
  context_.threads.SawTime(end.thread, end_ns, end_ns);
}

void OpRecords::OnOpenSpan(ThreadTable::Index thread, const wire::OpenSpan& span, uint32_t depth) {
  wire::AsyncBeginRecord begin{};
  begin.header.name = span.name;
  begin.ticks = span.begin_ticks;
  begin.identity = span.identity;
  begin.sequence_nr = -1;
  begin.depth = static_cast<uint16_t>(std::min<uint32_t>(depth, UINT16_MAX));
  begin.scope = span.scope;
  OnAsyncBegin(thread, begin);
}

void OpRecords::Finish() {
  for (const auto& [identity, begin] : begins_) {
    Write(begin.op, std::nullopt, std::nullopt);
    NoteThread(begin.op, begin.op.begin_ns);
  }
  begins_.clear();
  for (const auto& [identity, end] : ends_) {
    const int64_t time_ns = context_.TimeOf(end.record.ticks);
    context_.findings.Add({wire::NoteSeverity::kNotice, "async_end_unmatched", "collector.convert",
                           "asynchronous operators ended whose begin was not recorded", ""},
                          1, {time_ns, time_ns});
  }
  ends_.clear();
}

void OpRecords::Write(const Op& op, std::optional<int64_t> end_ns,
                      std::optional<ThreadTable::Index> end_thread) {
  schema::CpuOpRow row;
  row.tid = context_.threads.RowTid(op.thread);
  row.name_id = context_.strings.IdOf(op.name);
  row.scope = op.scope;
  row.begin_ns = op.begin_ns;
  row.end_ns = end_ns;
  row.depth = op.depth;
  if (op.sequence_nr >= 0) row.sequence_nr = op.sequence_nr;
  row.torch_tid = KnownTid(op.torch_tid);
  if (op.scope == kBackwardFunction) row.forward_tid = KnownTid(op.forward_tid);
  row.shapes_id = context_.strings.IdOf(op.shapes);
  if (end_thread && *end_thread != op.thread) row.end_tid = context_.threads.RowTid(*end_thread);
  context_.AppendSpan(std::move(row), context_.next_id.cpu_op);
  if (op.scope == kUserScope) WriteMeaning(op, end_ns);
}

const OpName& OpRecords::MeaningOf(uint32_t name) {
  static constexpr OpName kPlain;
  if (name >= context_.strings.capacity()) return kPlain;
  if (name >= names_.size()) names_.resize(name + 1);
  CachedName& cached = names_[name];
  const std::string_view text = context_.strings.TextOf(name);
  if (!cached.known && !text.empty()) cached = {true, ParseOpName(text)};
  return cached.name;
}

void OpRecords::WriteMeaning(const Op& op, std::optional<int64_t> end_ns) {
  const OpName& name = MeaningOf(op.name);
  const int64_t tid = context_.threads.RowTid(op.thread);
  switch (name.meaning) {
    case OpMeaning::kPlain:
      return;
    case OpMeaning::kStep:
      context_.AppendSpan(schema::StepRow{0, name.step, tid, op.begin_ns, end_ns, "profiler_step"},
                          context_.next_id.step);
      return;
    case OpMeaning::kOptimizer:
      context_.AppendSpan(
          schema::PhaseRow{0, tid, "optimizer", op.begin_ns, end_ns, "torch_optimizer"},
          context_.next_id.phase);
      return;
    case OpMeaning::kDataWait:
      context_.AppendSpan(schema::DataWaitRow{0, tid, context_.strings.Intern(name.loader),
                                              op.begin_ns, end_ns, std::nullopt, "dataloader_next"},
                          context_.next_id.data_wait);
      return;
  }
}

void OpRecords::NoteThread(const Op& op, int64_t end_ns) {
  context_.threads.SawTime(op.thread, op.begin_ns, end_ns);
  if (op.scope == kBackwardFunction) {
    context_.threads.SetSeen(op.thread, ThreadTable::Seen::kBackward);
  }
  if (op.torch_tid != 0 && op.scope != kUserScope) {
    context_.threads.SetTorchTid(op.thread, static_cast<int64_t>(op.torch_tid));
  }
}

}  // namespace tutti::collector::convert
