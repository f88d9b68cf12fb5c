// The environment that CMD runs in: the user's own, plus what loads the tracer and tells
// it whom to ask, plus with --nproc what torchrun would set. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::collector::supervise {

// NAME=value strings, as execve takes them.
using Environment = std::vector<std::string>;

Environment CurrentEnvironment();

// The value of a variable; nullptr if it is not set.
const char* ValueOf(const Environment& environment, const std::string& name);
void Set(Environment& environment, const std::string& name, const std::string& value);
void SetIfUnset(Environment& environment, const std::string& name, const std::string& value);

// Loads |tracer| (absolute path of libtutti_tracer.so) in front of the user's own
// LD_PRELOAD and names |session| (TUTTI_SESSION). Injection variables that the user set
// are kept; their names are returned, for the sources behind them will miss events.
std::vector<std::string> AddTracer(Environment& environment, const std::string& tracer,
                                   const std::string& session);

// One of several local ranks, as torchrun would start it (torch/distributed/run.py,
// elastic/agent/server/local_elastic_agent.py). Variables that only its agent can
// honour (TORCHELASTIC_USE_AGENT_STORE) are left out.
struct LocalRank {
  int32_t rank;
  int32_t count;
  uint16_t master_port;
  std::string run_id;
};
void AddLocalRank(Environment& environment, const LocalRank& rank);

// A TCP port of the loopback interface that nobody listens on at this moment, 0 if
// there is none.
uint16_t FreeLoopbackPort();

}  // namespace tutti::collector::supervise
