// Which rank this process is, from the variables that torchrun and `tutti record --nproc`
// set. Std only.
#ifndef TUTTI_WORKLOADS_COMMON_RANK_ENV_H_
#define TUTTI_WORKLOADS_COMMON_RANK_ENV_H_

#include <cstdint>
#include <string>

namespace tutti::workloads {

struct RankEnv {
  // False if RANK is not set: one process trains alone, without a process group.
  bool distributed = false;
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  int local_world_size = 1;
  std::string master_addr;
  uint16_t master_port = 0;
  // torchrun's agent already serves the store at the master's address; else rank 0 does.
  bool agent_serves_store = false;
  int restart_count = 0;  // of an elastic job

  // Reads the environment. Throws std::runtime_error naming the variable that is missing or
  // wrong; LOCAL_* default to the global values.
  static RankEnv Read();
};

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_RANK_ENV_H_
