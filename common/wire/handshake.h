// What a process and the collector say to each other once, over the unix
// SOCK_SEQPACKET socket named in TUTTI_SESSION ("PATH:TOKEN", 32 hex digits),
// when the process turns from candidate into rank. The collector also checks
// SO_PEERCRED (uid) and looks at the peer's ancestors in /proc.
#pragma once

#include <cstdint>

#include "common/wire/wire.h"

namespace tutti::wire {

inline constexpr uint64_t kHelloMagic = 0x4f4c4c4548495454;

// Tracer -> collector.
struct Hello {
  uint64_t magic;
  uint32_t version;  // wire::kVersion of the tracer
  uint32_t reserved0;
  uint8_t token[16];
  int32_t pid;  // getpid(), as the process sees it (its own pid namespace)
  int32_t ppid;
  uint64_t start_ticks;    // starttime of /proc/self/stat
  int32_t rank;            // -1 unknown (no variable of ci.md section 3's list is set)
  int32_t local_rank;      // -1 unknown
  int32_t world_size;      // -1 unknown
  int32_t attempt;         // TORCHELASTIC_RESTART_COUNT, else 0
  char rank_variable[64];  // the variable that gave the rank, "" none
  char run_id[128];  // identity of the job: TORCHELASTIC_RUN_ID, SLURM_JOB_ID, MASTER_ADDR:PORT …
  char executable[256];  // /proc/self/exe
  char reason[64];       // what made it a rank: "annotate", "c10d::allreduce_", "backward", …
};

enum class WelcomeStatus : uint32_t {
  kAccepted = 0,        // the segment's descriptor comes with this message (SCM_RIGHTS)
  kHelper = 1,          // a descendant of a process with the same (run, attempt, rank): stay inert
  kRefusedVersion = 2,  // `version` says what the collector speaks
  kRefusedToken = 3,
  kRefusedResources = 4,  // no memory for another segment; `text` says so
  kNotSelected = 5,       // --ranks leaves this rank out
};

// Collector -> tracer.
struct Welcome {
  uint64_t magic;
  uint32_t version;
  WelcomeStatus status;
  uint64_t segment_bytes;
  char text[232];  // one plain line for the user when not accepted
};
static_assert(sizeof(Welcome) == 256);

}  // namespace tutti::wire
