#include "tracer/sources/cupti/problem.h"

namespace tutti::tracer::cupti {
namespace {

struct Known {
  Result result;
  Remedy remedy;
};

constexpr char kHostGoesOn[] = "operators, ranges and collectives of the host are recorded";

constexpr Known kKnown[] = {
    {kInsufficientPrivileges,
     {"this user may not profile the GPU",
      "as root: echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' > "
      "/etc/modprobe.d/nvidia-profiling.conf, then reboot (or reload the driver); in a container "
      "add --cap-add SYS_ADMIN"}},
    {kMultipleSubscribers,
     {"another tool has CUPTI",
      "run without it (nsys, ncu, cuda-gdb, DCGM profiling metrics, torch.profiler), or record "
      "without --trace cupti"}},
    {kNotInitialized, {"CUPTI could not be initialised", kHostGoesOn}},
    {kVirtualizedWithoutPrivileges,
     {"profiling is not allowed on this virtual GPU",
      "the host's administrator allows it with the vGPU parameter enable_profiling=1"}},
    {kConfidentialComputing,
     {"CUPTI does not work on a GPU in confidential computing mode", kHostGoesOn}},
    {kCmpDevice, {"CUPTI does not work on mining GPUs", kHostGoesOn}},
    {kMigDevice, {"this driver's CUPTI does not work on a MIG device", kHostGoesOn}},
    {kSliDevice, {"CUPTI does not work on GPUs in SLI", kHostGoesOn}},
    {kWslDevice, {"CUPTI does not work under this WSL", "update the driver and WSL 2"}},
};

}  // namespace

Remedy RemedyOf(Result result) noexcept {
  for (const Known& known : kKnown) {
    if (known.result == result) return known.remedy;
  }
  return {"CUPTI failed", kHostGoesOn};
}

}  // namespace tutti::tracer::cupti
