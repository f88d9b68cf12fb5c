#include "collector/convert/converter.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "collector/convert/carried_records.h"

namespace tutti::collector::convert {
namespace {

using wire::RecordKind;

// Readings closer together than this add noise to the interpolation, not knowledge.
constexpr int64_t kKnotSpacingNs = 50'000'000;

// How much later than its stamp a record may be published (its thread was preempted in
// between) and still come into order with those of other threads.
constexpr int64_t kLatenessNs = 20'000'000;

constexpr int16_t kCudaDeviceType = 1;  // c10::DeviceType

template <typename Record>
Record FromCell(const std::array<std::byte, wire::kCellBytes>& cell) {
  Record record;
  std::memcpy(&record, cell.data(), sizeof(record));
  return record;
}

}  // namespace

Converter::Converter(const spool::ProcessChunk& process, RowOutput& rows, ConverterOptions options)
    : context_(rows, process.anchor, process.string_capacity,
               static_cast<uint32_t>(process.hello.pid)),
      anchor_(process.anchor),
      options_(options),
      ops_(context_),
      nccl_(context_),
      gpu_ranges_(context_),
      ranges_(context_, nccl_, gpu_ranges_),
      annotations_(context_),
      collectives_(context_),
      memory_(context_),
      activities_(context_, nccl_, gpu_ranges_),
      system_(context_, process.anchor),
      node_(context_, process.anchor,
            [this](const std::string& uuid) { return activities_.DeviceOfUuid(uuid); }),
      losses_(context_) {}

std::optional<Span> Converter::covered() const {
  const clock::TickClock& ticks = context_.clock;
  if (ticks.empty()) return std::nullopt;
  const uint64_t begin_ticks = window_ ? window_->begin_ticks : ticks.first_ticks();
  return Span{ticks.ToTraceNs(begin_ticks), ticks.ToTraceNs(ticks.last_ticks())};
}

Status Converter::Advance(spool::SpoolReader& reader, uint64_t limit) {
  TUTTI_ASSIGN_OR_RETURN(const uint64_t slice_end, ScanAhead(reader, limit));
  if (slice_end <= offset_) return OkStatus();
  if (options_.window) {
    context_.window = Span{context_.clock.ToTraceNs(options_.window->begin),
                           context_.clock.ToTraceNs(options_.window->end)};
  }
  TUTTI_RETURN_IF_ERROR(ConvertChunks(reader, slice_end));
  FlushDeferred(horizon_ticks_);
  nccl_.Advance(context_.clock.ToTraceNs(horizon_ticks_));
  context_.threads.WriteChanged(context_.rows);
  context_.communicators.WriteChanged(context_.rows);
  activities_.WriteChanged();
  context_.rows.MaybeCommit();
  return OkStatus();
}

Status Converter::Finish(spool::SpoolReader& reader, uint64_t limit) {
  TUTTI_RETURN_IF_ERROR(Advance(reader, limit));
  // Nothing encloses the stamps of what is left; a recording that ended well has none.
  TUTTI_RETURN_IF_ERROR(ConvertChunks(reader, limit));
  FlushDeferred(std::numeric_limits<uint64_t>::max());
  if (!context_.clock.empty()) {
    for (const OpenSpanAt& open : open_spans_.Take()) OnOpenSpan(open);
  }
  ops_.Finish();
  ranges_.Finish();
  annotations_.Finish();
  collectives_.Finish();
  activities_.Finish();
  gpu_ranges_.Finish();
  node_.Finish();
  nccl_.Finish();
  losses_.Finish();
  context_.threads.WriteChanged(context_.rows);
  context_.communicators.WriteChanged(context_.rows);
  ReportDecoding();
  context_.findings.Write(context_.rows);
  return OkStatus();
}

Result<uint64_t> Converter::ScanAhead(spool::SpoolReader& reader, uint64_t limit) {
  uint64_t slice_end = offset_;
  std::optional<clock::ClockReading> before_last;
  std::optional<clock::ClockReading> last;
  uint64_t at = offset_;
  while (const auto chunk = reader.ChunkAt(at, limit)) {
    at = chunk->end_offset();
    if (chunk->kind == spool::ChunkKind::kStrings) {
      TUTTI_ASSIGN_OR_RETURN(const auto payload, reader.Read(*chunk));
      DefineStrings(payload);
    } else if (chunk->kind == spool::ChunkKind::kClock) {
      const auto reading = reader.ReadStruct<clock::ClockReading>(*chunk);
      if (!reading) continue;
      before_last = std::exchange(last, reading);
      OnClock(*reading, false);
      slice_end = at;
    }
  }
  if (last) OnClock(*last, true);
  // What was published before the round of the last reading is here: all that is older
  // than the reading before it, but for late threads.
  if (before_last) horizon_ticks_ = before_last->ticks;
  return slice_end;
}

void Converter::OnClock(const clock::ClockReading& reading, bool last) {
  const bool spaced =
      !last_knot_ || reading.monotonic_raw_ns - last_knot_->monotonic_raw_ns >= kKnotSpacingNs;
  if (!spaced && !last) return;
  if (!context_.clock.Add(reading)) return;
  last_knot_ = reading;
  schema::ClockSyncRow row;
  row.ticks = static_cast<int64_t>(reading.ticks);
  row.realtime_ns = reading.realtime_ns;
  row.monotonic_raw_ns = reading.monotonic_raw_ns;
  row.trace_ns = anchor_.ToTraceNs(reading.monotonic_raw_ns);
  row.uncertainty_ns = reading.uncertainty_ns;
  context_.rows.Append(row);
}

void Converter::DefineStrings(std::span<const std::byte> bytes) {
  spool::PayloadReader payload(bytes);
  spool::StringEntryHeader header;
  std::string_view text;
  while (payload.Read(header) && payload.ReadText(header.bytes, text)) {
    context_.strings.Define(header.index, text);
  }
}

Status Converter::ConvertChunks(spool::SpoolReader& reader, uint64_t limit) {
  while (const auto chunk = reader.ChunkAt(offset_, limit)) {
    TUTTI_ASSIGN_OR_RETURN(const auto payload, reader.Read(*chunk));
    OnChunk(chunk->kind, payload);
    offset_ = chunk->end_offset();
    context_.rows.MaybeCommit();
  }
  return OkStatus();
}

void Converter::OnChunk(spool::ChunkKind kind, std::span<const std::byte> bytes) {
  const spool::PayloadReader payload(bytes);
  switch (kind) {
    case spool::ChunkKind::kProcess:
    case spool::ChunkKind::kClock:
    case spool::ChunkKind::kStrings:
      return;  // read ahead
    case spool::ChunkKind::kCells:
      return OnCells(payload);
    case spool::ChunkKind::kCarried:
      return OnCarried(bytes);
    case spool::ChunkKind::kWindow:
      return OnWindow(payload);
    case spool::ChunkKind::kLosses:
      return OnLosses(payload);
    case spool::ChunkKind::kOpenSpans:
      return OnOpenStack(payload);
    case spool::ChunkKind::kNote:
      return OnNote(payload);
    case spool::ChunkKind::kSystem: {
      spool::SystemSample sample;
      if (spool::PayloadReader(bytes).Read(sample)) system_.OnSample(sample);
      return;
    }
    case spool::ChunkKind::kNode: {
      spool::NodeSample sample;
      if (spool::PayloadReader(bytes).Read(sample)) node_.OnSample(sample);
      return;
    }
    case spool::ChunkKind::kEnd: {
      spool::EndChunk end;
      if (spool::PayloadReader(bytes).Read(end)) end_ = end;
      return;
    }
  }
}

void Converter::OnCells(spool::PayloadReader payload) {
  spool::CellsChunk chunk;
  if (!payload.Read(chunk) || context_.clock.empty()) return;
  std::span<const std::byte> cells = payload.rest();
  Ring& ring = rings_[chunk.ring];
  if (chunk.position > ring.next_position) missing_cells_ += chunk.position - ring.next_position;
  if (chunk.position < ring.next_position) {
    // Spooled twice: by a drainer that was killed before it could say so, and its successor.
    const uint64_t seen = (ring.next_position - chunk.position) * wire::kCellBytes;
    if (seen >= cells.size()) return;
    cells = cells.subspan(seen);
  }
  ring.next_position = chunk.position + chunk.cells;
  if (!ring.has_thread) {
    ring.has_thread = true;
    ring.thread = context_.threads.Find(chunk.tid, chunk.thread_start_ticks);
  }
  DecodeCells(cells, decode_counts_,
              [&](const RecordView& record) { OnRecord(chunk.ring, ring, record); });
}

void Converter::OnCarried(std::span<const std::byte> payload) {
  if (context_.clock.empty()) return;
  ForEachCarried(payload, [this](uint32_t ring, std::span<const std::byte> cells) {
    DecodeCells(cells, decode_counts_, [&](const RecordView& record) {
      if (IsCarried(record.header.kind)) return OnRecord(ring, rings_[ring], record);
      ++decode_counts_.torn_cells;  // damage; nobody may be known whose event it could be
    });
  });
}

void Converter::OnWindow(spool::PayloadReader payload) {
  spool::WindowChunk window;
  if (window_ || !payload.Read(window)) return;
  window_ = window;
  losses_.Rebase();
  spool::RingPosition ring;
  for (uint32_t left = window.rings; left > 0 && payload.Read(ring); --left) {
    rings_[ring.ring].next_position = ring.position;
  }
  TimeRange before;
  before.begin_ns = context_.clock.ToTraceNs(context_.clock.first_ticks());
  before.end_ns = anchor_.ToTraceNs(window.begin_raw_ns);
  const auto events = static_cast<int64_t>(std::min<uint64_t>(window.events, INT64_MAX / 2));
  context_.findings.Add(
      {wire::NoteSeverity::kNotice, "rolled_out", "collector.window",
       "events that were recorded before what this trace holds: tutti record --live keeps the "
       "newest steps only",
       "record with a larger --window and --window-size if more is needed"},
      std::max<int64_t>(events, 1), before);
}

void Converter::OnRecord(uint32_t ring, Ring& state, const RecordView& record) {
  switch (record.header.kind) {
    case RecordKind::kThread:
      return OnThread(state, record.As<wire::ThreadRecord>());
    case RecordKind::kCpuOp:
    case RecordKind::kRange:
    case RecordKind::kCollective:
      return OnSpanRecord(state, record);
    case RecordKind::kCommunicator:
      return context_.communicators.Announce(record.As<wire::CommunicatorRecord>(),
                                             context_.strings);
    case RecordKind::kLoss:
      return losses_.OnLoss(ring, record.As<wire::LossRecord>());
    case RecordKind::kNote:
      return OnTracerNote(record.As<wire::NoteRecord>());
    case RecordKind::kPayload:
      return ranges_.OnPayload(state.thread, record.As<wire::PayloadRecord>(),
                               record.bytes.subspan(sizeof(wire::PayloadRecord)));
    case RecordKind::kPayloadSchema:
      return ranges_.OnSchema(record.As<wire::PayloadSchemaRecord>());
    case RecordKind::kThreadName: {
      const auto name = record.As<wire::ThreadNameRecord>();
      return context_.threads.SetName(context_.threads.FindLatest(name.tid),
                                      context_.strings.TextOf(name.header.name), true);
    }
    case RecordKind::kNcclCommunicator:
      return nccl_.OnCommunicator(record.As<wire::NcclCommunicatorRecord>());
    case RecordKind::kNcclCall:
      return nccl_.OnPluginCall(state.thread, record.As<wire::NcclCallRecord>());
    case RecordKind::kActivity:
      return activities_.OnActivity(record.As<wire::ActivityRecord>(),
                                    record.bytes.subspan(sizeof(wire::ActivityRecord)));
    case RecordKind::kMark:
    case RecordKind::kMemory:
    case RecordKind::kCollectiveEnqueue:
    case RecordKind::kRangeStart:
    case RecordKind::kRangeEnd:
    case RecordKind::kAsyncBegin:
    case RecordKind::kAsyncEnd: {
      // In all of these the stamp follows the header.
      uint64_t ticks;
      std::memcpy(&ticks, record.bytes.data() + sizeof(wire::RecordHeader), sizeof(ticks));
      return Defer(ticks, state.thread, record);
    }
    case RecordKind::kPadding:
      return;
  }
}

void Converter::OnSpanRecord(const Ring& state, const RecordView& record) {
  // In all three the begin follows the header and the end follows the begin.
  uint64_t stamps[2];
  std::memcpy(stamps, record.bytes.data() + sizeof(wire::RecordHeader), sizeof(stamps));
  open_spans_.OnEnded(state.thread, record.header.name, stamps[0]);
  if (record.header.kind == RecordKind::kCpuOp) {
    return ops_.OnCpuOp(state.thread, record.As<wire::CpuOpRecord>());
  }
  if (record.header.kind == RecordKind::kRange) {
    const auto range = record.As<wire::RangeRecord>();
    const bool waits = ranges_.HasPayload(state.thread, range.domain, range.begin_ticks);
    if (!waits) {
      if (!annotations_.OnRange(state.thread, range)) ranges_.OnRange(state.thread, range);
      return;
    }
  }
  Defer(stamps[1], state.thread, record);
}

void Converter::OnThread(Ring& state, const wire::ThreadRecord& record) {
  state.has_thread = true;
  state.thread = context_.threads.Find(record.tid, record.start_ticks);
  context_.threads.SetName(state.thread, context_.strings.TextOf(record.header.name), false);
}

void Converter::Defer(uint64_t ticks, ThreadTable::Index thread, const RecordView& record) {
  Deferred deferred{ticks, thread, {}};
  std::memcpy(deferred.cell.data(), record.bytes.data(), deferred.cell.size());
  deferred_.push_back(deferred);
}

void Converter::FlushDeferred(uint64_t horizon_ticks) {
  std::stable_sort(deferred_.begin(), deferred_.end(),
                   [](const Deferred& a, const Deferred& b) { return a.ticks < b.ticks; });
  const bool everything = horizon_ticks == std::numeric_limits<uint64_t>::max();
  size_t done = 0;
  for (const Deferred& deferred : deferred_) {
    if (!everything &&
        (deferred.ticks > horizon_ticks ||
         context_.clock.ToTraceNs(horizon_ticks) - context_.clock.ToTraceNs(deferred.ticks) <
             kLatenessNs)) {
      break;
    }
    OnDeferred(deferred);
    ++done;
  }
  deferred_.erase(deferred_.begin(), deferred_.begin() + static_cast<ptrdiff_t>(done));
}

void Converter::OnDeferred(const Deferred& deferred) {
  const auto kind = FromCell<wire::RecordHeader>(deferred.cell).kind;
  const ThreadTable::Index thread = deferred.thread;
  switch (kind) {
    case RecordKind::kMark: {
      const auto mark = FromCell<wire::MarkRecord>(deferred.cell);
      if (!annotations_.OnMark(thread, mark)) ranges_.OnMark(thread, mark);
      return;
    }
    case RecordKind::kRange: {
      const auto range = FromCell<wire::RangeRecord>(deferred.cell);
      if (!annotations_.OnRange(thread, range)) ranges_.OnRange(thread, range);
      return;
    }
    case RecordKind::kMemory: {
      const auto memory = FromCell<wire::MemoryRecord>(deferred.cell);
      if (memory.device_type == kCudaDeviceType) activities_.OnAllocatorEvent();
      return memory_.OnMemory(thread, memory);
    }
    case RecordKind::kCollective:
      return collectives_.OnCollective(thread, FromCell<wire::CollectiveRecord>(deferred.cell));
    case RecordKind::kCollectiveEnqueue:
      return collectives_.OnEnqueue(thread, FromCell<wire::CollectiveEnqueueRecord>(deferred.cell));
    case RecordKind::kRangeStart:
      return ranges_.OnStart(thread, FromCell<wire::RangeStartRecord>(deferred.cell));
    case RecordKind::kRangeEnd:
      return ranges_.OnEnd(thread, FromCell<wire::RangeEndRecord>(deferred.cell));
    case RecordKind::kAsyncBegin:
      return ops_.OnAsyncBegin(thread, FromCell<wire::AsyncBeginRecord>(deferred.cell));
    case RecordKind::kAsyncEnd:
      return ops_.OnAsyncEnd(thread, FromCell<wire::AsyncEndRecord>(deferred.cell));
    default:
      return;  // nothing else is deferred
  }
}

void Converter::OnLosses(spool::PayloadReader payload) {
  spool::LossTotal total;
  while (payload.Read(total)) losses_.OnTotal(total);
}

void Converter::OnOpenStack(spool::PayloadReader payload) {
  spool::OpenSpansChunk chunk;
  if (!payload.Read(chunk)) return;
  std::vector<wire::OpenSpan> stack;
  wire::OpenSpan span;
  while (stack.size() < chunk.spans && payload.Read(span)) stack.push_back(span);
  const ThreadTable::Index thread = context_.threads.Find(chunk.tid, chunk.thread_start_ticks);
  open_spans_.OnStack(chunk.ring, thread, chunk.reason, stack);
  if (chunk.depth > chunk.spans && chunk.reason != spool::OpenSpansReason::kSnapshot) {
    context_.findings.Add(
        {wire::NoteSeverity::kNotice, "open_spans_cut", "collector.convert",
         "innermost spans that were open at the end and lie too deep to be known", ""},
        chunk.depth - chunk.spans);
  }
}

void Converter::OnOpenSpan(const OpenSpanAt& open) {
  // A stack is written without locks: its newest entry may be torn.
  const auto kind = static_cast<RecordKind>(open.span.kind);
  const bool is_sound =
      context_.clock.Covers(open.span.begin_ticks) &&
      open.span.name < context_.strings.capacity() &&
      (kind == RecordKind::kCpuOp || kind == RecordKind::kRange || kind == RecordKind::kCollective);
  if (!is_sound) {
    context_.findings.Add({wire::NoteSeverity::kNotice, "open_span_torn", "collector.convert",
                           "spans that were being opened or closed when the process died", ""});
    return;
  }
  if (kind == RecordKind::kCpuOp) return ops_.OnOpenSpan(open.thread, open.span, open.depth);
  if (kind == RecordKind::kCollective) return collectives_.OnOpenSpan(open.thread, open.span);
  if (annotations_.OnOpenSpan(open.thread, open.span)) return;
  ranges_.OnOpenSpan(open.thread, open.span, open.depth);
}

void Converter::OnTracerNote(const wire::NoteRecord& record) {
  const std::string code(context_.strings.TextOf(record.header.name));
  const std::string detail(context_.strings.TextOf(record.detail));
  if (code == "torch_version") {
    torch_version_ = detail;  // a column of process, nothing to worry about
    return;
  }
  const auto count = static_cast<int64_t>(std::clamp<uint64_t>(record.count, 1, INT64_MAX / 2));
  const int64_t time_ns = context_.TimeOf(record.ticks);
  const uint16_t severity =
      std::min(record.header.flags, static_cast<uint16_t>(wire::NoteSeverity::kError));
  context_.findings.Add({static_cast<wire::NoteSeverity>(severity), code,
                         "tracer." + std::string(context_.strings.TextOf(record.source)), detail,
                         std::string(context_.strings.TextOf(record.advice))},
                        count, {time_ns, time_ns});
}

void Converter::OnNote(spool::PayloadReader payload) {
  spool::NoteChunk note;
  if (!payload.Read(note)) return;
  std::string_view texts[4];
  for (size_t text = 0; text < std::size(texts); ++text) {
    if (!payload.ReadText(note.text_bytes[text], texts[text])) return;
  }
  TimeRange range;
  if (note.begin_raw_ns != 0) range.begin_ns = anchor_.ToTraceNs(note.begin_raw_ns);
  if (note.end_raw_ns != 0) range.end_ns = anchor_.ToTraceNs(note.end_raw_ns);
  context_.findings.Add({note.severity, std::string(texts[0]), std::string(texts[1]),
                         std::string(texts[2]), std::string(texts[3])},
                        note.count, range);
}

void Converter::ReportDecoding() {
  const auto report = [this](uint64_t count, Finding finding) {
    if (count > 0) context_.findings.Add(finding, static_cast<int64_t>(count));
  };
  using enum wire::NoteSeverity;
  report(decode_counts_.unknown_records, {kDataLoss, "unknown_record", "collector.convert",
                                          "records of a kind that this build does not know",
                                          "tracer and collector must be of one build"});
  report(decode_counts_.torn_cells, {kDataLoss, "torn_cell", "collector.convert",
                                     "cells that no record starts with: the process's memory "
                                     "was overwritten or its tracer is broken",
                                     "report this with the name of the program that was traced"});
  report(missing_cells_, {kDataLoss, "missing_cells", "collector.spool",
                          "cells that were taken from a buffer and are not in the spool", ""});
  report(static_cast<uint64_t>(context_.strings.WriteMissing()),
         {kNotice, "string_missing", "collector.convert",
          "names that events refer to and that were never stored", ""});
  report(static_cast<uint64_t>(context_.strings.invalid_references()),
         {kError, "string_invalid", "collector.convert",
          "events whose name lies outside the string table",
          "report this with the name of the program that was traced"});
}

}  // namespace tutti::collector::convert
