// Entry points of libtutti_tracer.so. The same file is named in LD_PRELOAD,
// CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH and NCCL_PROFILER_PLUGIN; whichever comes first, it
// is loaded once.
#include "tracer/core/session.h"
#include "tracer/sources/cupti/source.h"
#include "tracer/sources/nccl/plugin.h"
#include "tracer/sources/nvtx/extension.h"
#include "tracer/sources/nvtx/injection.h"

#define TUTTI_EXPORT extern "C" __attribute__((visibility("default")))

namespace tutti::tracer {

// The torch source, where it is linked in.
namespace torch {
[[gnu::weak, gnu::visibility("hidden")]] void Attach();
}  // namespace torch

namespace {

// Before main() where we are preloaded, within dlopen() else. Leaves nothing behind in a
// process that is not traced.
[[gnu::constructor]] void OnLoad() {
  Configure();
  AddPromotionHook(&nvtx::OnPromotion);
  AddPromotionHook(&cupti::OnPromotion);
  if (torch::Attach != nullptr) AddPromotionHook(&torch::Attach);
}

}  // namespace
}  // namespace tutti::tracer

// The CUDA driver (CUDA_INJECTION64_PATH), at its first use in a process. Returns 1.
TUTTI_EXPORT int InitializeInjection() {
  tutti::tracer::Configure();
  tutti::tracer::cupti::OnCuda();
  return 1;
}

// NVTX (NVTX_INJECTION64_PATH), at the first use in each library. May be called from another
// library's constructor, before ours.
TUTTI_EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  tutti::tracer::Configure();
  return tutti::tracer::nvtx::InitializeInjection(get_export_table);
}

TUTTI_EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  tutti::tracer::Configure();
  return tutti::tracer::nvtx::InitializeExtension(module);
}

// NCCL (NCCL_PROFILER_PLUGIN) takes the newest version that it knows.
// NOLINTBEGIN(readability-identifier-naming): NCCL's names
namespace nccl = tutti::tracer::nccl;
TUTTI_EXPORT constinit const nccl::ProfilerEarly ncclProfiler_v2 = {
    "Tutti",          &nccl::InitEarly,        &nccl::StartEventV2,
    &nccl::StopEvent, &nccl::RecordEventState, &nccl::Finalize};
TUTTI_EXPORT constinit const nccl::ProfilerEarly ncclProfiler_v3 = {
    "Tutti",          &nccl::InitEarly,        &nccl::StartEventV3,
    &nccl::StopEvent, &nccl::RecordEventState, &nccl::Finalize};
TUTTI_EXPORT constinit const nccl::ProfilerV4 ncclProfiler_v4 = {
    "Tutti",          &nccl::InitV4,           &nccl::StartEventV4,
    &nccl::StopEvent, &nccl::RecordEventState, &nccl::Finalize};
TUTTI_EXPORT constinit const nccl::ProfilerV5 ncclProfiler_v5 = {
    "Tutti",          &nccl::InitV5,           &nccl::StartEventV5,
    &nccl::StopEvent, &nccl::RecordEventState, &nccl::Finalize};
// NOLINTEND(readability-identifier-naming)
