#include "collector/supervise/environment.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "collector/os/file_descriptor.h"

extern char** environ;

namespace tutti::collector::supervise {
namespace {

Environment::const_iterator Find(const Environment& environment, const std::string& name) {
  const std::string prefix = name + "=";
  return std::find_if(environment.begin(), environment.end(),
                      [&prefix](const std::string& entry) { return entry.starts_with(prefix); });
}

}  // namespace

Environment CurrentEnvironment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return environment;
}

const char* ValueOf(const Environment& environment, const std::string& name) {
  const auto entry = Find(environment, name);
  return entry == environment.end() ? nullptr : entry->c_str() + name.size() + 1;
}

void Set(Environment& environment, const std::string& name, const std::string& value) {
  std::string entry = name + "=" + value;
  const auto existing = Find(environment, name);
  if (existing == environment.end()) {
    environment.push_back(std::move(entry));
  } else {
    environment[static_cast<size_t>(existing - environment.begin())] = std::move(entry);
  }
}

void SetIfUnset(Environment& environment, const std::string& name, const std::string& value) {
  if (ValueOf(environment, name) == nullptr) Set(environment, name, value);
}

std::vector<std::string> AddTracer(Environment& environment, const std::string& tracer,
                                   const std::string& session) {
  const char* preload = ValueOf(environment, "LD_PRELOAD");
  const bool has_own = preload != nullptr && *preload != '\0';
  Set(environment, "LD_PRELOAD", has_own ? tracer + ":" + preload : tracer);
  Set(environment, "TUTTI_SESSION", session);
  std::vector<std::string> kept;
  for (const char* name : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"}) {
    const char* own = ValueOf(environment, name);
    if (own != nullptr && *own != '\0' && tracer != own) {
      kept.emplace_back(name);
    } else {
      Set(environment, name, tracer);
    }
  }
  // NCCL takes paths of at most 254 characters: it cuts longer ones.
  constexpr size_t kNcclPathLimit = 254;
  if (tracer.size() <= kNcclPathLimit) SetIfUnset(environment, "NCCL_PROFILER_PLUGIN", tracer);
  return kept;
}

void AddLocalRank(Environment& environment, const LocalRank& rank) {
  const std::string number = std::to_string(rank.rank);
  const std::string count = std::to_string(rank.count);
  Set(environment, "RANK", number);
  Set(environment, "LOCAL_RANK", number);
  Set(environment, "WORLD_SIZE", count);
  Set(environment, "LOCAL_WORLD_SIZE", count);
  Set(environment, "GROUP_RANK", "0");
  Set(environment, "GROUP_WORLD_SIZE", "1");
  Set(environment, "ROLE_RANK", number);
  Set(environment, "ROLE_WORLD_SIZE", count);
  Set(environment, "ROLE_NAME", "default");
  Set(environment, "MASTER_ADDR", "127.0.0.1");
  Set(environment, "MASTER_PORT", std::to_string(rank.master_port));
  Set(environment, "TORCHELASTIC_RUN_ID", rank.run_id);
  Set(environment, "TORCHELASTIC_RESTART_COUNT", "0");
  Set(environment, "TORCHELASTIC_MAX_RESTARTS", "0");
  // torchrun does so too: the default of as many threads as cores in every rank of a
  // node makes all of them slow.
  if (rank.count > 1) SetIfUnset(environment, "OMP_NUM_THREADS", "1");
}

uint16_t FreeLoopbackPort() {
  const os::FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (!socket.valid() ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 0;
  }
  return ntohs(address.sin_port);
}

}  // namespace tutti::collector::supervise
