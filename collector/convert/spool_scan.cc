#include "collector/convert/spool_scan.h"

#include <algorithm>
#include <vector>

#include "collector/convert/carried_records.h"
#include "collector/convert/op_name.h"

namespace tutti::collector::convert {
namespace {

constexpr std::string_view kTuttiDomain = "tutti";
constexpr std::string_view kDefaultGroup = "default_pg";
constexpr uint32_t kStepCategory = 1;  // tracer/annotate.h
constexpr uint8_t kUserScope = 7;      // at::RecordScope::USER_SCOPE

bool Matters(std::string_view text) {
  return text == kTuttiDomain || text == kDefaultGroup ||
         ParseOpName(text).meaning == OpMeaning::kStep;
}

}  // namespace

Status SpoolScan::Advance(spool::SpoolReader& reader, uint64_t limit) {
  // A batch's strings follow its cells: cells wait until the strings are known.
  std::vector<spool::Chunk> cells;
  while (const auto chunk = reader.ChunkAt(offset_, limit)) {
    offset_ = chunk->end_offset();
    if (chunk->kind == spool::ChunkKind::kCells) cells.push_back(*chunk);
    if (chunk->kind != spool::ChunkKind::kStrings && chunk->kind != spool::ChunkKind::kCarried &&
        chunk->kind != spool::ChunkKind::kWindow) {
      continue;
    }
    TUTTI_ASSIGN_OR_RETURN(const auto payload, reader.Read(*chunk));
    if (chunk->kind == spool::ChunkKind::kStrings) OnStrings(payload);
    if (chunk->kind == spool::ChunkKind::kCarried) OnCarried(payload);
    if (chunk->kind == spool::ChunkKind::kWindow) OnWindow(payload);
  }
  for (const spool::Chunk& chunk : cells) {
    TUTTI_ASSIGN_OR_RETURN(const auto payload, reader.Read(chunk));
    OnCells(payload);
  }
  return OkStatus();
}

void SpoolScan::OnStrings(std::span<const std::byte> bytes) {
  spool::PayloadReader payload(bytes);
  spool::StringEntryHeader header;
  std::string_view text;
  while (payload.Read(header) && payload.ReadText(header.bytes, text)) {
    if (Matters(text)) strings_.emplace(header.index, text);
  }
}

void SpoolScan::OnCells(std::span<const std::byte> bytes) {
  spool::PayloadReader payload(bytes);
  spool::CellsChunk chunk;
  if (!payload.Read(chunk)) return;
  DecodeCounts counts;
  DecodeCells(payload.rest(), counts, [this](const RecordView& record) { OnRecord(record); });
}

// In a head strings come before carried records.
void SpoolScan::OnCarried(std::span<const std::byte> payload) {
  ForEachCarried(payload, [this](uint32_t, std::span<const std::byte> cells) {
    DecodeCounts counts;
    DecodeCells(cells, counts, [this](const RecordView& record) { OnRecord(record); });
  });
}

void SpoolScan::OnWindow(std::span<const std::byte> bytes) {
  spool::WindowChunk window;
  // Only the oldest file's: what lies before the others is here.
  if (!window_ticks_ && spool::PayloadReader(bytes).Read(window))
    window_ticks_ = window.begin_ticks;
}

std::optional<uint64_t> SpoolScan::window_begin_ticks() const {
  return first_whole_step_ticks_ ? first_whole_step_ticks_ : window_ticks_;
}

std::string_view SpoolScan::TextOf(uint32_t index) const {
  const auto text = strings_.find(index);
  return text == strings_.end() ? std::string_view() : std::string_view(text->second);
}

void SpoolScan::OnRecord(const RecordView& record) {
  if (record.header.kind == wire::RecordKind::kCommunicator) {
    const auto announced = record.As<wire::CommunicatorRecord>();
    if (announced.rank >= 0 && announced.rank < announced.size) {
      communicators_.insert_or_assign(announced.communicator, announced);
    }
  } else if (WantsSteps() && record.header.kind == wire::RecordKind::kRange) {
    const auto range = record.As<wire::RangeRecord>();
    if (range.category == kStepCategory && TextOf(range.domain) == kTuttiDomain) {
      OnStep(static_cast<int64_t>(range.payload), range.begin_ticks, range.end_ticks);
    }
  } else if (WantsSteps() && record.header.kind == wire::RecordKind::kCpuOp) {
    const auto op = record.As<wire::CpuOpRecord>();
    if (op.scope != kUserScope) return;
    const OpName name = ParseOpName(TextOf(op.header.name));
    if (name.meaning == OpMeaning::kStep) OnStep(name.step, op.begin_ticks, op.end_ticks);
  }
}

void SpoolScan::OnStep(int64_t number, uint64_t begin_ticks, uint64_t end_ticks) {
  if (on_step_) on_step_(number, begin_ticks, end_ticks);
  if (window_ticks_ && begin_ticks >= *window_ticks_ && number >= first_step_) {
    first_whole_step_ticks_ = std::min(first_whole_step_ticks_.value_or(UINT64_MAX), begin_ticks);
  }
  if (!steps_ || !steps_->Contains(number)) return;
  if (!step_ticks_) step_ticks_ = TickRange{begin_ticks, end_ticks};
  step_ticks_->begin = std::min(step_ticks_->begin, begin_ticks);
  step_ticks_->end = std::max(step_ticks_->end, end_ticks);
}

std::optional<InferredRank> SpoolScan::inferred_rank() const {
  const wire::CommunicatorRecord* found = nullptr;
  for (const auto& [number, record] : communicators_) {
    if (TextOf(record.description) == kDefaultGroup) {
      found = &record;
      break;
    }
    if (found == nullptr) found = &record;
  }
  if (found == nullptr) return std::nullopt;
  return InferredRank{found->rank, found->size};
}

}  // namespace tutti::collector::convert
