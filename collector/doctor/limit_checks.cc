// What training runs out of.
#include <sched.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "collector/doctor/checks.h"

namespace tutti::collector::doctor {
namespace {

constexpr int64_t kMiB = 1 << 20;

// This process's control group below /sys/fs/cgroup (version 2), "" for the root of what a
// container sees.
std::string ControlGroup(const Machine& machine) {
  const std::string groups = machine.Text("/proc/self/cgroup").value_or("");
  const size_t at = groups.find("0::");
  if (at == std::string::npos) return "";
  const size_t begin = at + 3;
  const std::string path = groups.substr(begin, groups.find('\n', begin) - begin);
  return path == "/" ? "" : path;
}

// Processors' worth of time that the control group may use, in hundredths; nothing: no limit.
std::optional<int64_t> CpuQuotaPercent(const Machine& machine) {
  const auto text = machine.Text("/sys/fs/cgroup" + ControlGroup(machine) + "/cpu.max");
  if (!text) return std::nullopt;
  int64_t quota = 0;
  int64_t period = 0;
  const char* const end = text->data() + text->size();
  const auto first = std::from_chars(text->data(), end, quota);
  if (first.ec != std::errc() || first.ptr == end) return std::nullopt;  // "max 100000"
  const auto second = std::from_chars(first.ptr + 1, end, period);
  if (second.ec != std::errc() || period <= 0) return std::nullopt;
  return quota * 100 / period;
}

Checkup CheckCpuQuota(const Machine& machine, int64_t cpus) {
  Checkup checkup{"cpu_quota", Health::kGood, std::to_string(cpus) + " processors, no quota", ""};
  const std::optional<int64_t> percent = CpuQuotaPercent(machine);
  if (!percent) return checkup;
  checkup.found = std::to_string(cpus) + " processors, quota of " + std::to_string(*percent) + " %";
  if (*percent >= cpus * 100) return checkup;
  checkup.health = Health::kNote;
  checkup.advice =
      "ranks, loader workers and threads beyond the quota are stopped for tens of milliseconds at "
      "a "
      "time: raise the container's CPU limit, or start fewer";
  return checkup;
}

Checkup CheckSharedMemory(int64_t bytes) {
  constexpr int64_t kDockersDefault = 64 * kMiB;
  constexpr int64_t kPlenty = 1024 * kMiB;
  Checkup checkup{"shared_memory", Health::kGood,
                  std::to_string(bytes / kMiB) + " MiB free in /dev/shm", ""};
  if (bytes >= kPlenty) return checkup;
  checkup.health = bytes <= kDockersDefault ? Health::kProblem : Health::kNote;
  checkup.advice =
      "loader workers and NCCL hand data over there and die of a bus error when it is full: "
      "docker run --shm-size=8g or --ipc=host; Kubernetes: an emptyDir with medium Memory";
  return checkup;
}

Checkup CheckOpenFiles(int64_t limit) {
  constexpr int64_t kEnough = 4096;
  Checkup checkup{"open_files", Health::kGood, "up to " + std::to_string(limit), ""};
  if (limit >= kEnough) return checkup;
  checkup.health = Health::kNote;
  checkup.advice =
      "tensors of loader workers and sockets of many ranks take one each: ulimit -n 65536";
  return checkup;
}

// The store of a rendezvous listens; all ranks connect at once.
Checkup CheckConnectionQueue(const Machine& machine) {
  constexpr int64_t kEnough = 1024;
  Checkup checkup{"connection_queue", Health::kGood, "not known", ""};
  const auto length = machine.Number("/proc/sys/net/core/somaxconn");
  if (!length) return checkup;
  checkup.found = "net.core.somaxconn = " + std::to_string(*length);
  if (*length >= kEnough) return checkup;
  checkup.health = Health::kNote;
  checkup.advice =
      "a job of more ranks than that may fail to rendezvous: sysctl net.core.somaxconn=4096";
  return checkup;
}

}  // namespace

Limits CurrentLimits() {
  Limits limits;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof(allowed), &allowed);
  limits.cpus = CPU_COUNT(&allowed);
  struct statvfs shm {};
  if (::statvfs("/dev/shm", &shm) == 0) {
    limits.shm_bytes = static_cast<int64_t>(shm.f_bavail) * static_cast<int64_t>(shm.f_frsize);
  }
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  limits.open_files = static_cast<int64_t>(std::min<rlim_t>(files.rlim_cur, INT64_MAX));
  return limits;
}

std::vector<Checkup> CheckLimits(const Machine& machine, const Limits& limits) {
  return {CheckCpuQuota(machine, limits.cpus), CheckSharedMemory(limits.shm_bytes),
          CheckOpenFiles(limits.open_files), CheckConnectionQueue(machine)};
}

}  // namespace tutti::collector::doctor
