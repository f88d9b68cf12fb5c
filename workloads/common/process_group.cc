#include "workloads/common/process_group.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "workloads/common/nccl_module.h"

namespace tutti::workloads {
namespace {

using std::chrono::milliseconds;

// As torch.distributed's env:// rendezvous does, including under torchrun's agent.
c10::intrusive_ptr<c10d::Store> OpenStore(const RankEnv& env, milliseconds timeout) {
  c10d::TCPStoreOptions options;
  options.port = env.master_port;
  options.isServer = env.rank == 0 && !env.agent_serves_store;
  options.numWorkers = static_cast<size_t>(env.world_size);
  options.waitWorkers = false;
  options.timeout = timeout;
  auto store = c10::make_intrusive<c10d::TCPStore>(env.master_addr, options);
  const std::string prefix = "/worker/attempt_" + std::to_string(env.restart_count);
  return c10::make_intrusive<c10d::PrefixStore>(prefix, std::move(store));
}

// Gloo binds to the interface that GLOO_SOCKET_IFNAME names; else to loopback for a job on one
// machine (its host name need not resolve); else to the address of the host name.
std::shared_ptr<::gloo::transport::Device> GlooDevice(const RankEnv& env) {
  const char* const interface = std::getenv("GLOO_SOCKET_IFNAME");  // NOLINT(concurrency-mt-unsafe)
  if (interface != nullptr && *interface != '\0') {
    return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  }
  if (env.local_world_size == env.world_size) {
    return c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1");
  }
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

c10::intrusive_ptr<c10d::Backend> MakeGloo(const c10::intrusive_ptr<c10d::Store>& store,
                                           const RankEnv& env, milliseconds timeout) {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices.push_back(GlooDevice(env));
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, env.rank, env.world_size,
                                                     std::move(options));
}

}  // namespace

c10::intrusive_ptr<c10d::ProcessGroup> JoinProcessGroup(const RankEnv& env,
                                                        const std::string& backend,
                                                        milliseconds timeout) {
  using Group = c10d::ProcessGroup;
  const bool nccl = backend == "nccl";
  auto store = OpenStore(env, timeout);
  auto group = c10::make_intrusive<Group>(store, env.rank, env.world_size);
  group->setBackend(
      nccl ? c10::DeviceType::CUDA : c10::DeviceType::CPU,
      nccl ? Group::BackendType::NCCL : Group::BackendType::GLOO,
      nccl ? MakeNccl(store, env.rank, env.world_size, timeout) : MakeGloo(store, env, timeout));
  group->setDefaultBackend(nccl ? Group::BackendType::NCCL : Group::BackendType::GLOO);
  group->setGroupName("0");  // the names that torch.distributed gives its first group
  group->setGroupDesc("default_pg");
  return group;
}

}  // namespace tutti::workloads
