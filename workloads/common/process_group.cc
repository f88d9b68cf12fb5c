#include "workloads/common/process_group.h"

#include <algorithm>
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

// What a group is, beside the store that its members meet at.
struct Membership {
  int rank;  // of this process in the group
  int size;
  std::string name;
  std::string description;
  std::vector<uint64_t> global_ranks;  // by rank in the group
};

c10::intrusive_ptr<c10d::Backend> MakeGloo(const c10::intrusive_ptr<c10d::Store>& store,
                                           const RankEnv& env, const Membership& membership,
                                           milliseconds timeout) {
  auto options = c10d::ProcessGroupGloo::Options::create(timeout);
  options->devices.push_back(GlooDevice(env));
  options->global_ranks_in_group = membership.global_ranks;
  options->group_name = membership.name;
  return c10::make_intrusive<c10d::ProcessGroupGloo>(store, membership.rank, membership.size,
                                                     std::move(options));
}

c10::intrusive_ptr<c10d::ProcessGroup> MakeGroup(const c10::intrusive_ptr<c10d::Store>& store,
                                                 const RankEnv& env, const Membership& membership,
                                                 const std::string& backend, milliseconds timeout) {
  using Group = c10d::ProcessGroup;
  const bool nccl = backend == "nccl";
  const int rank = membership.rank;
  const int size = membership.size;
  auto group = c10::make_intrusive<Group>(store, rank, size);
  group->setBackend(
      nccl ? c10::DeviceType::CUDA : c10::DeviceType::CPU,
      nccl ? Group::BackendType::NCCL : Group::BackendType::GLOO,
      nccl ? MakeNccl(store, rank, size, timeout) : MakeGloo(store, env, membership, timeout));
  group->setDefaultBackend(nccl ? Group::BackendType::NCCL : Group::BackendType::GLOO);
  group->setGroupName(membership.name);
  group->setGroupDesc(membership.description);
  return group;
}

}  // namespace

c10::intrusive_ptr<c10d::ProcessGroup> JoinProcessGroup(const RankEnv& env,
                                                        const std::string& backend,
                                                        milliseconds timeout) {
  // The names that torch.distributed gives its first group.
  const Membership all{env.rank, env.world_size, "0", "default_pg", {}};
  return MakeGroup(OpenStore(env, timeout), env, all, backend, timeout);
}

c10::intrusive_ptr<c10d::ProcessGroup> JoinSubgroup(
    const c10::intrusive_ptr<c10d::ProcessGroup>& world, const std::vector<int>& ranks,
    const std::string& name, const RankEnv& env, const std::string& backend, milliseconds timeout) {
  const auto own = std::find(ranks.begin(), ranks.end(), env.rank);
  const Membership part{static_cast<int>(own - ranks.begin()), static_cast<int>(ranks.size()), name,
                        name, std::vector<uint64_t>(ranks.begin(), ranks.end())};
  auto store = c10::make_intrusive<c10d::PrefixStore>(name + "/", world->getStore());
  return MakeGroup(store, env, part, backend, timeout);
}

}  // namespace tutti::workloads
