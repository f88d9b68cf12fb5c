#include "collector/spool/recover.h"

#include <algorithm>

namespace tutti::collector::spool {

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
    if (chunk->kind != ChunkKind::kCells) continue;
    const auto cells = reader.ReadStruct<CellsChunk>(*chunk);
    if (!cells) continue;
    uint64_t& next = state.next_position[cells->ring];
    next = std::max(next, cells->position + cells->cells);
  }
  return state;
}

}  // namespace tutti::collector::spool
