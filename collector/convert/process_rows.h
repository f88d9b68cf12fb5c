// The rows of process and meta: who was traced, by what, and how much. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "collector/convert/converter.h"
#include "collector/spool/format.h"

namespace tutti::collector::convert {

// The rank that a process's file stands for, and where that is known from.
struct RankIdentity {
  int32_t rank = 0;
  std::optional<int32_t> local_rank;
  std::optional<int32_t> world_size;
  std::string source;  // a variable's name, "communicator", or how it was assumed
  int32_t attempt = 0;
};

// What the file says about its own making.
struct Making {
  std::string run_id;    // identity of the recording
  std::string recorder;  // name of its manifest
  int64_t convert_cpu_ns = 0;
  uint64_t spool_bytes = 0;
  bool still_running = false;  // the process goes on beyond what is converted
};

// Replaces what was written before. To be called before anything is converted, with what
// is known then, and when the converter has finished.
void WriteProcessRows(Converter& converter, const spool::ProcessChunk& process,
                      const RankIdentity& identity, const Making& making, RowOutput& rows);

}  // namespace tutti::collector::convert
