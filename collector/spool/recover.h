// What an earlier drainer left in a spool file: where to go on. One thread.
#pragma once

#include <cstdint>
#include <map>

#include "collector/spool/format.h"
#include "collector/spool/reader.h"
#include "common/status.h"

namespace tutti::collector::spool {

struct SpoolState {
  ProcessChunk process;
  uint64_t end_offset = 0;                     // of the last whole chunk
  std::map<uint32_t, uint64_t> next_position;  // by ring
  bool ended = false;                          // its EndChunk is there
};

// kBadData: the file does not start with a process chunk of this build's format.
Result<SpoolState> Recover(SpoolReader& reader);

}  // namespace tutti::collector::spool
