#include "collector/injection.h"

#include <cstdlib>

namespace tutti::collector {

std::vector<std::pair<std::string, std::string>> InjectedVariables() {
  std::vector<std::pair<std::string, std::string>> variables;
  // TUTTI_SESSION first: without it the others are somebody else's.
  for (const char* name : {"TUTTI_SESSION", "LD_PRELOAD", "NVTX_INJECTION64_PATH",
                           "CUDA_INJECTION64_PATH", "NCCL_PROFILER_PLUGIN"}) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
    if (value != nullptr && *value != '\0') variables.emplace_back(name, value);
    if (variables.empty()) return variables;
  }
  return variables;
}

}  // namespace tutti::collector
