#include "collector/convert/range_records.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace tutti::collector::convert {
namespace {

constexpr std::string_view kNcclDomain = "NCCL";

std::optional<int64_t> Colour(uint32_t argb) {
  if (argb == 0) return std::nullopt;
  return argb;
}

std::optional<schema::Value> NumberPayload(wire::PayloadType type, uint64_t bits) {
  switch (type) {
    case wire::PayloadType::kInt64:
      return static_cast<int64_t>(bits);
    case wire::PayloadType::kUint64:
      if (bits <= INT64_MAX) return static_cast<int64_t>(bits);
      return static_cast<double>(bits);  // SQLite has no unsigned integers
    case wire::PayloadType::kDouble:
      if (std::isfinite(std::bit_cast<double>(bits))) return std::bit_cast<double>(bits);
      return std::nullopt;
    case wire::PayloadType::kNone:
      return std::nullopt;
  }
  return std::nullopt;
}

// Columns that all kinds of records have under the same names.
template <typename Record>
schema::RangeRow RowOf(Context& context, ThreadTable::Index thread, const Record& record,
                       const char* kind) {
  schema::RangeRow row;
  row.tid = context.threads.RowTid(thread);
  row.kind = kind;
  row.domain_id = context.strings.IdOf(record.domain);
  row.category = record.category;
  row.category_id = context.strings.IdOf(record.category_name);
  row.name_id = context.strings.IdOf(record.header.name);
  row.argb = Colour(record.argb);
  return row;
}

}  // namespace

void RangeRecords::OnPayload(ThreadTable::Index thread, const wire::PayloadRecord& record,
                             std::span<const std::byte> data) {
  const size_t kept = std::min<size_t>(record.bytes, data.size());
  payloads_[{thread, record.domain, record.event_ticks}].push_back(
      {record, {data.begin(), data.begin() + static_cast<ptrdiff_t>(kept)}});
}

bool RangeRecords::HasPayload(ThreadTable::Index thread, uint32_t domain,
                              uint64_t event_ticks) const {
  return !payloads_.empty() && payloads_.contains({thread, domain, event_ticks});
}

std::optional<schema::Value> RangeRecords::PayloadOf(ThreadTable::Index thread, uint32_t domain,
                                                     uint64_t event_ticks, wire::PayloadType type,
                                                     uint64_t bits) {
  const auto payloads = payloads_.find({thread, domain, event_ticks});
  if (payloads == payloads_.end()) return NumberPayload(type, bits);
  std::string json;
  for (const Payload& payload : payloads->second) {
    if (!json.empty()) json += ',';
    json += schemas_.ToJson(payload.record, payload.data);
  }
  if (payloads->second.size() > 1) json = "[" + json + "]";
  payloads_.erase(payloads);
  return json;
}

void RangeRecords::OnRange(ThreadTable::Index thread, const wire::RangeRecord& record) {
  const Span span = context_.SpanOf(record.begin_ticks, record.end_ticks);
  context_.threads.SawTime(thread, span.begin_ns, span.end_ns);
  schema::RangeRow row = RowOf(context_, thread, record, "push_pop");
  row.begin_ns = span.begin_ns;
  row.end_ns = span.end_ns;
  row.depth = record.depth;
  row.payload =
      PayloadOf(thread, record.domain, record.begin_ticks, record.payload_type, record.payload);
  if (context_.strings.TextOf(record.domain) == kNcclDomain) {
    nccl_.OnRange(row, context_.strings.TextOf(record.header.name));
  } else {
    gpu_ranges_.OnRange(row);
  }
  context_.AppendSpan(std::move(row), context_.next_id.range);
}

void RangeRecords::OnMark(ThreadTable::Index thread, const wire::MarkRecord& record) {
  const int64_t time_ns = context_.TimeOf(record.ticks);
  context_.threads.SawTime(thread, time_ns, time_ns);
  schema::RangeRow row = RowOf(context_, thread, record, "mark");
  row.begin_ns = time_ns;
  row.end_ns = time_ns;
  row.payload = PayloadOf(thread, record.domain, record.ticks, record.payload_type, record.payload);
  context_.AppendSpan(std::move(row), context_.next_id.range);
}

void RangeRecords::OnOpenSpan(ThreadTable::Index thread, const wire::OpenSpan& span,
                              uint32_t depth) {
  schema::RangeRow row;
  row.tid = context_.threads.RowTid(thread);
  row.kind = "push_pop";
  row.domain_id = context_.strings.IdOf(span.domain);
  row.category = span.category;
  row.name_id = context_.strings.IdOf(span.name);
  row.begin_ns = context_.TimeOf(span.begin_ticks);
  row.depth = depth;
  row.payload = PayloadOf(thread, span.domain, span.begin_ticks, wire::PayloadType::kNone, 0);
  context_.threads.SawTime(thread, row.begin_ns, row.begin_ns);
  context_.AppendSpan(std::move(row), context_.next_id.range);
}

void RangeRecords::OnStart(ThreadTable::Index thread, const wire::RangeStartRecord& record) {
  const Start start{thread, record};
  if (const auto end = ends_.find(record.range_id); end != ends_.end()) {
    WriteStarted(start, &end->second);
    ends_.erase(end);
    return;
  }
  starts_.insert_or_assign(record.range_id, start);
}

void RangeRecords::OnEnd(ThreadTable::Index thread, const wire::RangeEndRecord& record) {
  const End end{thread, record.ticks};
  if (const auto start = starts_.find(record.range_id); start != starts_.end()) {
    WriteStarted(start->second, &end);
    starts_.erase(start);
    return;
  }
  ends_.insert_or_assign(record.range_id, end);
}

void RangeRecords::WriteStarted(const Start& start, const End* end) {
  const wire::RangeStartRecord& record = start.record;
  schema::RangeRow row = RowOf(context_, start.thread, record, "start_end");
  row.begin_ns = context_.TimeOf(record.ticks);
  context_.threads.SawTime(start.thread, row.begin_ns, row.begin_ns);
  if (end != nullptr) {
    row.end_ns = context_.SpanOf(record.ticks, end->ticks).end_ns;
    if (end->thread != start.thread) row.end_tid = context_.threads.RowTid(end->thread);
    context_.threads.SawTime(end->thread, *row.end_ns, *row.end_ns);
  }
  row.payload =
      PayloadOf(start.thread, record.domain, record.ticks, record.payload_type, record.payload);
  context_.AppendSpan(std::move(row), context_.next_id.range);
}

void RangeRecords::Finish() {
  for (const auto& [id, start] : starts_) WriteStarted(start, nullptr);
  starts_.clear();
  for (const auto& [id, end] : ends_) {
    const int64_t time_ns = context_.TimeOf(end.ticks);
    context_.findings.Add({wire::NoteSeverity::kNotice, "range_end_unmatched", "collector.convert",
                           "NVTX ranges ended whose start was not recorded", ""},
                          1, {time_ns, time_ns});
  }
  ends_.clear();
  if (!payloads_.empty()) {
    context_.findings.Add({wire::NoteSeverity::kNotice, "payload_unmatched", "collector.convert",
                           "NVTX payloads whose range or mark was not recorded", ""},
                          static_cast<int64_t>(payloads_.size()));
    payloads_.clear();
  }
}

}  // namespace tutti::collector::convert
