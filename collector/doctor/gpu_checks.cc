// NVIDIA's driver, who may profile, and tools that take the place of Tutti's.
#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "collector/doctor/checks.h"
#include "collector/os/proc.h"

namespace tutti::collector::doctor {
namespace {

constexpr char kDriver[] = "/proc/driver/nvidia";

bool IsNumber(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Wed …" -> "570.86.15".
std::string DriverVersion(const std::string& text) {
  const size_t module = text.find("Kernel Module");
  const size_t begin = text.find_first_of("0123456789", module == std::string::npos ? 0 : module);
  if (begin == std::string::npos) return "of an unknown version";
  return text.substr(begin, text.find_first_of(" \t\n", begin) - begin);
}

Checkup CheckDriver(const Machine& machine) {
  const auto version = machine.Text(std::string(kDriver) + "/version");
  if (!version) return {"gpu_driver", Health::kGood, "no NVIDIA driver: CPU training only", ""};
  const size_t gpus = machine.List(std::string(kDriver) + "/gpus").size();
  return {"gpu_driver", Health::kGood,
          "NVIDIA " + DriverVersion(*version) + ", " + std::to_string(gpus) +
              (gpus == 1 ? " GPU" : " GPUs"),
          ""};
}

Checkup CheckPermission(const Machine& machine, bool is_admin) {
  Checkup checkup{"gpu_permission", Health::kGood, "any user may profile", ""};
  const std::string parameters = machine.Text(std::string(kDriver) + "/params").value_or("");
  if (os::NumberAfter(parameters, "RmProfilingAdminOnly").value_or(0) == 0) return checkup;
  checkup.found = "only administrators may read GPU counters";
  if (is_admin) return checkup;
  checkup.health = Health::kNote;
  checkup.advice =
      "kernels are recorded, hardware counters are not: put \"options nvidia "
      "NVreg_RestrictProfilingToAdminUsers=0\" into a file of /etc/modprobe.d, rebuild the "
      "initramfs and restart, or give the container CAP_SYS_ADMIN";
  return checkup;
}

// Programs that hold CUPTI or the counters of all GPUs.
std::string RunningProfilers(const Machine& machine) {
  constexpr std::pair<const char*, const char*> kProfilers[] = {
      {"nv-hostengine", "DCGM"}, {"nsys", "Nsight Systems"}, {"ncu", "Nsight Compute"}};
  std::string found;
  for (const std::string& process : machine.List("/proc")) {
    if (!IsNumber(process)) continue;
    const std::string command = machine.Text("/proc/" + process + "/comm").value_or("");
    for (const auto& [name, product] : kProfilers) {
      if (command != name) continue;
      found += (found.empty() ? "" : ", ") + std::string(product) + " (process " + process + ")";
    }
  }
  return found;
}

Checkup CheckOtherProfilers(const Machine& machine) {
  Checkup checkup{"other_profilers", Health::kGood, "none is running", ""};
  const std::string found = RunningProfilers(machine);
  if (found.empty()) return checkup;
  checkup.health = Health::kNote;
  checkup.found = found;
  checkup.advice =
      "CUPTI serves one tool at a time: Tutti says so and records the rest if it comes second; "
      "dcgmi profile --pause, or end the other one";
  return checkup;
}

// Variables with which a tool has itself loaded. `tutti record` keeps those that are set.
Checkup CheckInjection(const Machine& machine) {
  Checkup checkup{"injected_tools", Health::kGood, "none", ""};
  std::string found;
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "NCCL_PROFILER_PLUGIN",
                           "LD_PRELOAD", "KINETO_USE_DAEMON"}) {
    const std::string value = machine.Variable(name);
    if (value.empty()) continue;
    found += (found.empty() ? "" : ", ") + std::string(name) + "=" + value;
  }
  if (found.empty()) return checkup;
  checkup.health = Health::kNote;
  checkup.found = found;
  checkup.advice =
      "tutti record leaves what is set to its owner and lacks what that one records (LD_PRELOAD: "
      "both are loaded): unset what is not wanted";
  return checkup;
}

}  // namespace

std::vector<Checkup> CheckGpu(const Machine& machine, bool is_admin) {
  std::vector<Checkup> checkups = {CheckDriver(machine)};
  if (machine.Has(kDriver)) checkups.push_back(CheckPermission(machine, is_admin));
  checkups.push_back(CheckOtherProfilers(machine));
  checkups.push_back(CheckInjection(machine));
  return checkups;
}

}  // namespace tutti::collector::doctor
