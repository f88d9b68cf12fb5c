#include "collector/spool/recover.h"

#include <algorithm>

namespace tutti::collector::spool {
namespace {

void ReadPositions(SpoolReader& reader, const Chunk& chunk, SpoolState& state) {
  const auto bytes = reader.Read(chunk);
  if (!bytes.ok()) return;
  PayloadReader payload(*bytes);
  WindowChunk window;
  RingPosition ring;
  if (!payload.Read(window)) return;
  for (uint32_t left = window.rings; left > 0 && payload.Read(ring); --left) {
    state.next_position[ring.ring] = ring.position;
  }
}

}  // namespace

Result<SpoolState> Recover(SpoolReader& reader) {
  SpoolState state;
  const uint64_t limit = reader.file_bytes();
  const auto first = reader.ChunkAt(0, limit);
  const auto process = first && first->kind == ChunkKind::kProcess
                           ? reader.ReadStruct<ProcessChunk>(*first)
                           : std::nullopt;
  if (!process) return BadDataError("a spool file without a beginning, or of another version");
  state.process = *process;
  state.end_offset = first->end_offset();
  while (const auto chunk = reader.ChunkAt(state.end_offset, limit)) {
    state.end_offset = chunk->end_offset();
    if (chunk->kind == ChunkKind::kEnd) state.ended = true;
    if (chunk->kind == ChunkKind::kWindow) ReadPositions(reader, *chunk, state);
    if (chunk->kind != ChunkKind::kCells) continue;
    const auto cells = reader.ReadStruct<CellsChunk>(*chunk);
    if (!cells) continue;
    uint64_t& next = state.next_position[cells->ring];
    next = std::max(next, cells->position + cells->cells);
  }
  return state;
}

}  // namespace tutti::collector::spool
