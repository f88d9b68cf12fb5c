#include "collector/drain/process_drainer.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "collector/drain/open_step.h"
#include "collector/os/files.h"
#include "collector/os/proc.h"

namespace tutti::collector::drain {
namespace {

// Pieces of [position, position + count) of a ring: one, or two where it wraps.
size_t CellPieces(std::span<const std::byte> cells, uint64_t position, uint64_t count,
                  std::span<iovec, 2> pieces) {
  const uint64_t capacity = cells.size() / wire::kCellBytes;
  const uint64_t first = position % capacity;
  const uint64_t until_end = std::min(count, capacity - first);
  auto* base = const_cast<std::byte*>(cells.data());  // iovec is not const; writev only reads
  pieces[0] = {base + first * wire::kCellBytes, until_end * wire::kCellBytes};
  pieces[1] = {base, (count - until_end) * wire::kCellBytes};
  return until_end < count ? 2 : 1;
}

// Whether any thread may claim the ring, without our doing.
bool IsUnused(wire::RingOwner owner) {
  return owner == wire::RingOwner::kFree || owner == wire::RingOwner::kReleased;
}

spool::LossTotal TotalOf(uint32_t ring, wire::LossReason reason, const wire::LossCounter& counter) {
  return {ring,
          reason,
          0,
          counter.count.load(std::memory_order_relaxed),
          counter.first_ticks.load(std::memory_order_relaxed),
          counter.last_ticks.load(std::memory_order_relaxed)};
}

}  // namespace

ProcessDrainer::ProcessDrainer(session::Segment segment, spool::SpoolWriter writer,
                               const spool::ProcessChunk& process, DiskBudget& budget)
    : segment_(std::make_unique<session::Segment>(std::move(segment))),
      writer_(std::move(writer)),
      process_(process),
      budget_(budget),
      strings_(*segment_),
      rings_(segment_->plan().ring_count) {}

void ProcessDrainer::ResumeAt(uint32_t ring, uint64_t position) {
  if (ring >= rings_.size()) return;
  rings_[ring].tail = position;
  segment_->ring(ring).tail.store(position, std::memory_order_release);
}

BudgetState ProcessDrainer::BudgetFor(uint64_t bytes) {
  return budget_.StateFor(bytes, writer_.committed_bytes());
}

Status ProcessDrainer::Append(spool::ChunkKind kind, std::string_view bytes) {
  budget_.Spent(bytes.size());
  return writer_.AppendBytes(kind, bytes);
}

uint64_t ProcessDrainer::Published(uint32_t ring) {
  wire::RingHeader& header = segment_->ring(ring);
  Ring& state = rings_[ring];
  const uint64_t head = header.head.load(std::memory_order_acquire);
  const uint64_t published = head - state.tail;
  if (published <= segment_->capacity_cells(ring)) return published;
  WriteNote(spool::EncodeNote(wire::NoteSeverity::kDataLoss, 1, clock::MonotonicRawNs(),
                              clock::MonotonicRawNs(), "ring_corrupt", "collector.drain",
                              "a buffer's write position made no sense; what it held was skipped",
                              "the traced program overwrote memory that is not its own"));
  state.tail = head;
  header.tail.store(head, std::memory_order_release);
  return 0;
}

PollResult ProcessDrainer::Poll() {
  PollResult result;
  for (uint32_t ring = 0; ring < ring_count() && result.spool.ok(); ++ring) {
    const uint64_t count = Published(ring);
    if (count == 0) continue;
    const double fill_frac =
        static_cast<double>(count) / static_cast<double>(segment_->capacity_cells(ring));
    result.max_fill_frac = std::max(result.max_fill_frac, fill_frac);
    const BudgetState budget = BudgetFor(count * wire::kCellBytes);
    result.budget = std::max(result.budget, budget);
    if (budget == BudgetState::kFull) break;
    result.spool = SpoolCells(ring, count);
    if (result.spool.ok()) result.cells += count;
  }
  // Also without cells: strings may be left over from a poll that failed.
  if (result.spool.ok()) result.spool = SpoolStrings();
  if (result.cells > 0 && result.spool.ok()) result.spool = SpoolClock();
  cells_ += result.cells;
  if (!result.spool.ok()) spool_failure_ = result.spool;
  if (!result.spool.ok() || result.budget == BudgetState::kFull) {
    blocked_.last_raw_ns = clock::MonotonicRawNs();
    if (blocked_.first_raw_ns == 0) blocked_.first_raw_ns = blocked_.last_raw_ns;
  }
  return result;
}

Status ProcessDrainer::SpoolCells(uint32_t ring, uint64_t count) {
  wire::RingHeader& header = segment_->ring(ring);
  Ring& state = rings_[ring];
  spool::CellsChunk chunk{};
  chunk.ring = ring;
  chunk.generation = header.generation.load(std::memory_order_relaxed);
  chunk.tid = header.tid.load(std::memory_order_relaxed);
  chunk.thread_start_ticks = header.thread_start_ticks.load(std::memory_order_relaxed);
  chunk.position = state.tail;
  chunk.cells = count;
  std::array<iovec, 3> pieces{};
  pieces[0] = {&chunk, sizeof(chunk)};
  const size_t used =
      1 + CellPieces(segment_->cells(ring), state.tail, count, std::span(pieces).subspan<1, 2>());
  TUTTI_RETURN_IF_ERROR(writer_.Append(spool::ChunkKind::kCells, std::span(pieces).first(used)));
  budget_.Spent(sizeof(chunk) + count * wire::kCellBytes);
  if (carried_) CarryFrom(std::span(pieces).subspan(1, used - 1), ring);
  state.tail += count;
  header.tail.store(state.tail, std::memory_order_release);
  return OkStatus();
}

Status ProcessDrainer::SpoolStrings() {
  const std::string strings = strings_.Take();
  if (strings.empty()) return OkStatus();
  TUTTI_RETURN_IF_ERROR(Append(spool::ChunkKind::kStrings, strings));
  strings_.Keep();
  return OkStatus();
}

Status ProcessDrainer::SpoolClock() {
  budget_.Spent(sizeof(clock::ClockReading));
  return writer_.AppendStruct(spool::ChunkKind::kClock, clock::ReadClocks(process_.clock_kind));
}

template <typename Sample>
void ProcessDrainer::AppendSample(spool::ChunkKind kind, const Sample& sample) {
  if (BudgetFor(sizeof(sample)) == BudgetState::kFull) return;
  budget_.Spent(sizeof(sample));
  // A sample that can't be written is a gap in a counter: not worth more than the
  // notes that a full disk gets anyway.
  if (const Status status = writer_.AppendStruct(kind, sample); !status.ok()) {
    spool_failure_ = status;
  }
}

void ProcessDrainer::WriteSample(const spool::SystemSample& sample) {
  AppendSample(spool::ChunkKind::kSystem, sample);
}
void ProcessDrainer::WriteSample(const spool::NodeSample& sample) {
  AppendSample(spool::ChunkKind::kNode, sample);
}

void ProcessDrainer::WriteNote(const std::string& encoded_note) {
  if (const Status status = Append(spool::ChunkKind::kNote, encoded_note); !status.ok()) {
    spool_failure_ = status;
  }
}

void ProcessDrainer::WriteSnapshots() {
  constexpr uint64_t kSnapshotBytes = 64 << 10;
  if (BudgetFor(kSnapshotBytes) == BudgetState::kFull) return;
  WriteLosses();
  bool has_open_spans = false;
  for (uint32_t ring = 0; ring < ring_count(); ++ring) {
    const wire::RingHeader& header = segment_->ring(ring);
    if (header.owner.load(std::memory_order_acquire) != wire::RingOwner::kClaimed) continue;
    if (header.open_depth.load(std::memory_order_acquire) == 0 && !had_open_spans_) continue;
    WriteOpenSpans(ring, spool::OpenSpansReason::kSnapshot);
    has_open_spans = true;
  }
  had_open_spans_ = has_open_spans;
}

std::vector<spool::LossTotal> ProcessDrainer::LossTotals() const {
  std::vector<spool::LossTotal> totals;
  const auto add = [&](const spool::LossTotal& total) {
    if (total.count > 0) totals.push_back(total);
  };
  for (uint32_t ring = 0; ring < ring_count(); ++ring) {
    const wire::RingHeader& header = segment_->ring(ring);
    for (uint32_t reason = 1; reason < wire::kLossReasonCount; ++reason) {
      add(TotalOf(ring, static_cast<wire::LossReason>(reason), header.lost[reason]));
    }
  }
  add(TotalOf(spool::kNoRing, wire::LossReason::kNoRing, segment_->header().lost_no_ring));
  const uint32_t refused = segment_->header().strings_refused.load(std::memory_order_relaxed);
  add({spool::kNoRing, wire::LossReason::kStringTableFull, 0, refused, 0, 0});
  return totals;
}

void ProcessDrainer::WriteLosses() {
  std::vector<spool::LossTotal> totals = LossTotals();
  uint64_t checksum = 0;
  for (const spool::LossTotal& total : totals) checksum += total.count;
  if (checksum == loss_checksum_) return;
  const iovec piece{totals.data(), totals.size() * sizeof(spool::LossTotal)};
  if (writer_.Append(spool::ChunkKind::kLosses, std::span(&piece, 1)).ok()) {
    loss_checksum_ = checksum;
  }
}

void ProcessDrainer::WriteOpenSpans(uint32_t ring, spool::OpenSpansReason reason) {
  const wire::RingHeader& header = segment_->ring(ring);
  spool::OpenSpansChunk chunk{};
  chunk.ring = ring;
  chunk.generation = header.generation.load(std::memory_order_relaxed);
  chunk.tid = header.tid.load(std::memory_order_relaxed);
  chunk.reason = reason;
  chunk.thread_start_ticks = header.thread_start_ticks.load(std::memory_order_relaxed);
  chunk.depth = header.open_depth.load(std::memory_order_acquire);
  chunk.spans = std::min(chunk.depth, wire::kOpenSpanDepth);
  std::array<wire::OpenSpan, wire::kOpenSpanDepth> spans;
  std::memcpy(spans.data(), header.open_spans, chunk.spans * sizeof(wire::OpenSpan));
  const iovec pieces[] = {{&chunk, sizeof(chunk)},
                          {spans.data(), chunk.spans * sizeof(wire::OpenSpan)}};
  budget_.Spent(sizeof(chunk) + pieces[1].iov_len);
  if (const Status status = writer_.Append(spool::ChunkKind::kOpenSpans, pieces); !status.ok()) {
    spool_failure_ = status;
  }
}

// In a pid namespace of its own the process numbers its threads otherwise than we do.
bool ProcessDrainer::ThreadIsGone(uint32_t tid, uint64_t start_ticks) {
  const pid_t pid = process_.peer_pid;
  if (pid <= 0) return false;  // out of sight
  const auto is_same = [start_ticks](const std::optional<os::ProcessStat>& stat) {
    return stat && (start_ticks == 0 || stat->start_ticks == start_ticks);
  };
  if (process_.hello.pid == pid) {
    return !is_same(os::ReadThreadStat(pid, static_cast<pid_t>(tid)));
  }
  for (const pid_t outer : os::ListThreads(pid)) {
    if (os::InnermostThreadId(pid, outer) == static_cast<pid_t>(tid)) {
      return !is_same(os::ReadThreadStat(pid, outer));
    }
  }
  return true;
}

// Whether the thread that owns a claimed ring has ended without releasing it. It is asked for
// again at the end: a thread may have released the ring in between, and another claimed it.
bool ProcessDrainer::OwnerIsGone(const wire::RingHeader& header) {
  const uint32_t tid = header.tid.load(std::memory_order_acquire);
  const uint64_t start_ticks = header.thread_start_ticks.load(std::memory_order_acquire);
  return tid != 0 && ThreadIsGone(tid, start_ticks) &&
         header.owner.load(std::memory_order_acquire) == wire::RingOwner::kClaimed &&
         header.tid.load(std::memory_order_acquire) == tid &&
         header.thread_start_ticks.load(std::memory_order_acquire) == start_ticks;
}

bool ProcessDrainer::RingsRunShort() const {
  uint32_t free = 0;
  for (uint32_t ring = 0; ring < ring_count(); ++ring) {
    const auto owner = segment_->ring(ring).owner.load(std::memory_order_relaxed);
    free += IsUnused(owner) ? 1 : 0;
  }
  return free * 2 < ring_count();
}

uint32_t ProcessDrainer::FreeRings(bool process_gone) {
  uint32_t freed = 0;
  for (uint32_t ring = 0; ring < ring_count(); ++ring) {
    wire::RingHeader& header = segment_->ring(ring);
    const wire::RingOwner owner = header.owner.load(std::memory_order_acquire);
    if (IsUnused(owner)) continue;
    if (owner == wire::RingOwner::kClaimed && !process_gone && !OwnerIsGone(header)) continue;
    // Asked after its thread was found gone: nothing can be published any more.
    if (Published(ring) != 0) continue;
    if (owner == wire::RingOwner::kClaimed &&
        header.open_depth.load(std::memory_order_relaxed) > 0) {
      WriteOpenSpans(ring, spool::OpenSpansReason::kThreadGone);
    }
    header.open_depth.store(0, std::memory_order_relaxed);
    header.tid.store(0, std::memory_order_relaxed);
    header.owner.store(wire::RingOwner::kFree, std::memory_order_release);
    ++freed;
  }
  return freed;
}

std::optional<int64_t> ProcessDrainer::OpenStep() const { return drain::OpenStep(*segment_); }

void ProcessDrainer::SetCaptureMask(uint32_t mask) {
  segment_->header().capture_mask.store(mask, std::memory_order_relaxed);
}

void ProcessDrainer::CountUnwritten() {
  for (uint32_t ring = 0; ring < ring_count(); ++ring) {
    const uint64_t capacity = segment_->capacity_cells(ring);
    const uint64_t end = rings_[ring].tail + Published(ring);
    for (uint64_t at = rings_[ring].tail; at < end;) {
      wire::RecordHeader header;
      std::memcpy(&header, segment_->cells(ring).data() + at % capacity * wire::kCellBytes,
                  sizeof(header));
      if (convert::IsEvent(header.kind)) ++unwritten_events_;
      at += std::max<uint64_t>(header.cells, 1);
    }
  }
}

// What was written just now, once more: the process may have changed it since, but what is kept is
// checked when it is read.
void ProcessDrainer::CarryFrom(std::span<const iovec> pieces, uint32_t ring) {
  std::vector<std::byte> cells;
  for (const iovec& piece : pieces) {
    const auto* bytes = static_cast<const std::byte*>(piece.iov_base);
    cells.insert(cells.end(), bytes, bytes + piece.iov_len);
  }
  carried_->Look(ring, cells);
}

void ProcessDrainer::KeepWindow(const clock::ClockReading& first, spool::SpoolReader* earlier) {
  first_reading_ = first;
  carried_.emplace();
  if (earlier == nullptr) return;
  uint64_t at = 0;
  while (const auto chunk = earlier->ChunkAt(at, earlier->file_bytes())) {
    at = chunk->end_offset();
    const auto bytes = earlier->Read(*chunk);
    if (!bytes.ok()) return;
    spool::PayloadReader payload(*bytes);
    spool::CellsChunk cells;
    spool::WindowChunk window;
    if (chunk->kind == spool::ChunkKind::kCarried) carried_->LookCarried(*bytes);
    if (chunk->kind == spool::ChunkKind::kWindow && payload.Read(window)) {
      carried_->AddEvents(window.events);
    }
    if (chunk->kind == spool::ChunkKind::kCells && payload.Read(cells)) {
      carried_->Look(cells.ring, payload.rest());
    }
  }
}

Result<uint64_t> ProcessDrainer::StartFile(int directory, const std::string& name) {
  WriteSnapshots();
  TUTTI_RETURN_IF_ERROR(SpoolClock());
  const std::string part = name + ".part";
  ::unlinkat(directory, part.c_str(), 0);  // of a drainer that was killed here
  TUTTI_ASSIGN_OR_RETURN(spool::SpoolWriter writer, spool::SpoolWriter::Create(directory, part));
  Status status = WriteHead(writer);
  if (status.ok() && ::renameat(directory, part.c_str(), directory, name.c_str()) != 0) {
    status = os::ErrnoStatus(name, errno);
  }
  if (!status.ok()) {
    ::unlinkat(directory, part.c_str(), 0);
    return status;
  }
  budget_.Spent(writer.committed_bytes());
  const uint64_t ended_bytes = writer_.committed_bytes();
  writer_ = std::move(writer);
  return ended_bytes;
}

Status ProcessDrainer::WriteHead(spool::SpoolWriter& writer) {
  using spool::ChunkKind;
  TUTTI_RETURN_IF_ERROR(writer.AppendStruct(ChunkKind::kProcess, process_));
  const std::string strings = StringHarvester(*segment_).Take();
  if (!strings.empty()) TUTTI_RETURN_IF_ERROR(writer.AppendBytes(ChunkKind::kStrings, strings));
  TUTTI_RETURN_IF_ERROR(writer.AppendStruct(ChunkKind::kClock, *first_reading_));
  TUTTI_RETURN_IF_ERROR(writer.AppendBytes(ChunkKind::kCarried, carried_->Payload()));
  const std::vector<spool::LossTotal> losses = LossTotals();
  const iovec totals{const_cast<spool::LossTotal*>(losses.data()),
                     losses.size() * sizeof(spool::LossTotal)};
  TUTTI_RETURN_IF_ERROR(writer.Append(ChunkKind::kLosses, std::span(&totals, 1)));
  const clock::ClockReading now = clock::ReadClocks(process_.clock_kind);
  TUTTI_RETURN_IF_ERROR(writer.AppendStruct(ChunkKind::kClock, now));
  spool::WindowChunk window{};
  window.events = carried_->events();
  window.begin_ticks = now.ticks;
  window.begin_raw_ns = now.monotonic_raw_ns;
  std::vector<spool::RingPosition> positions;
  for (uint32_t ring = 0; ring < ring_count(); ++ring) {
    if (rings_[ring].tail > 0) positions.push_back({rings_[ring].tail, ring, 0});
  }
  window.rings = static_cast<uint32_t>(positions.size());
  const iovec pieces[] = {{&window, sizeof(window)},
                          {positions.data(), positions.size() * sizeof(spool::RingPosition)}};
  return writer.Append(ChunkKind::kWindow, pieces);
}

void ProcessDrainer::Finish(spool::EndReason reason, int32_t exit_status, int64_t drain_cpu_ns) {
  const PollResult last = Poll();
  if (!last.spool.ok() || last.budget == BudgetState::kFull) CountUnwritten();
  WriteLosses();
  for (uint32_t ring = 0; ring < ring_count(); ++ring) {
    const wire::RingHeader& header = segment_->ring(ring);
    if (header.owner.load(std::memory_order_acquire) != wire::RingOwner::kClaimed) continue;
    WriteOpenSpans(ring, spool::OpenSpansReason::kProcessEnd);
  }
  // The last reading: what is open at the end has begun before it.
  if (const Status status = SpoolClock(); !status.ok()) spool_failure_ = status;
  const spool::EndChunk end{reason, exit_status, clock::MonotonicRawNs(), drain_cpu_ns, cells_};
  if (const Status status = writer_.AppendStruct(spool::ChunkKind::kEnd, end); !status.ok()) {
    spool_failure_ = status;
  }
}

}  // namespace tutti::collector::drain
