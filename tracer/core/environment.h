// What this process was told in its environment variables: which collector to ask, and
// which rank of which job it is. Reads only; no allocation.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>

namespace tutti::tracer {

// Value of a variable, nullptr if unset. A parameter so that tests need no environment.
using GetVariable = const char* (*)(const char* name);

// secure_getenv: nothing at all in a process with elevated privileges.
const char* SecureVariable(const char* name);

// TUTTI_SESSION, taken apart.
struct SessionAddress {
  sockaddr_un socket;
  uint8_t token[16];
};

// Parses "PATH:TOKEN", TOKEN being 32 hex digits. nullptr if it could, else what is wrong.
const char* ParseSession(const char* text, SessionAddress* address) noexcept;

// Identity of this process in its job; -1 where no variable tells.
struct RankIdentity {
  int32_t rank = -1;
  int32_t local_rank = -1;
  int32_t world_size = -1;
  int32_t attempt = 0;
  char rank_variable[64] = "";
  char run_id[128] = "";
};

// Resolves the identity in this order, each launcher's variables as a whole:
//   the variable that TUTTI_RANK_VAR names;
//   RANK, if WORLD_SIZE and LOCAL_RANK are there too and agree (pods of a PyTorchJob set
//     RANK and WORLD_SIZE per pod, before torchrun makes ranks of them);
//   OMPI_COMM_WORLD_RANK, PMIX_RANK, MV2_COMM_WORLD_RANK, PMI_RANK, FLUX_TASK_RANK;
//   SLURM_PROCID in an srun step of several tasks (a batch step has SLURM_PROCID=0, which
//     mpirun and whatever else is started there inherit; under srun torchrun it is the
//     node's number, but there RANK comes first).
// Values that are not numbers in range count as absent.
RankIdentity ReadIdentity(GetVariable get) noexcept;

}  // namespace tutti::tracer
