#include "tracer/sources/nvtx/ignored.h"

#include <atomic>
#include <bit>

#include "tracer/core/note.h"
#include "tracer/sources/nvtx/chain.h"

namespace tutti::tracer::nvtx {
namespace {

struct GroupState {
  std::atomic<uint64_t> calls;
  std::atomic<uint64_t> noted;
};

struct Ignored {
  static inline constinit GroupState groups[kIgnoredGroups]{};
  static inline constinit std::atomic<uint64_t> last_handle{0};
};

constexpr const char* kDetails[kIgnoredGroups] = {
    "names of CUDA driver objects (nvtxNameCu…) are not recorded",
    "names of OpenCL objects (nvtxNameCl…) are not recorded",
    "names of CUDA runtime objects (nvtxNameCuda…) are not recorded",
    "user-defined synchronisation objects (nvtxDomainSyncUser…) are not recorded",
    "resources (nvtxDomainResourceCreate) are not recorded",
    "deferred events and their clocks (nvtxEventSubmit …) are not recorded",
    "NVTX extensions other than payloads (memory, counters) are not recorded",
};

// Notes the calls that no note tells of yet.
void NoteGroup(uint32_t index) noexcept {
  GroupState& group = Ignored::groups[index];
  const uint64_t calls = group.calls.load(std::memory_order_relaxed);
  const uint64_t noted = group.noted.exchange(calls, std::memory_order_relaxed);
  if (calls <= noted) return;
  Note({wire::NoteSeverity::kInfo, "nvtx", "nvtx_ignored", kDetails[index], "", calls - noted});
}

void CountModule(uint32_t module) noexcept {
  switch (module) {
    case NVTX_CB_MODULE_CUDA:
      return CountIgnored(IgnoredGroup::kCudaNames);
    case NVTX_CB_MODULE_OPENCL:
      return CountIgnored(IgnoredGroup::kOpenClNames);
    case NVTX_CB_MODULE_CUDART:
      return CountIgnored(IgnoredGroup::kCudartNames);
    default:
      return CountIgnored(IgnoredGroup::kSync);
  }
}

// A function of two arguments, object (or device number) and name. All of these modules'
// naming functions take them in two integer registers, so one signature serves.
template <uint32_t kModule, uint32_t kSlot>
void IgnoreName(void* object, const void* name) {
  CountModule(kModule);
  Chain::Notify<void (*)(void*, const void*)>(kModule, kSlot, object, name);
}

nvtx_nvtxSyncUser_t IgnoreSyncCreate(nvtxDomainHandle_t domain,
                                     const nvtx_nvtxSyncUserAttributes_t* attributes) {
  CountIgnored(IgnoredGroup::kSync);
  // Not null and distinct, should a program compare or test it.
  const uint64_t own = Ignored::last_handle.fetch_add(8, std::memory_order_relaxed) + 8;
  return Chain::Call<nvtxDomainSyncUserCreate_fakeimpl_fntype>(
      NVTX_CB_MODULE_SYNC, NVTX_CBID_SYNC_DomainSyncUserCreate,
      std::bit_cast<nvtx_nvtxSyncUser_t>(own), domain, attributes);
}

template <uint32_t kSlot>
void IgnoreSync(nvtx_nvtxSyncUser_t handle) {
  CountIgnored(IgnoredGroup::kSync);
  Chain::Notify<nvtxDomainSyncUserDestroy_fakeimpl_fntype>(NVTX_CB_MODULE_SYNC, kSlot, handle);
}

template <typename Function>
void Install(NvtxFunctionTable table, unsigned size, uint32_t slot, Function* function) noexcept {
  if (slot < size && table[slot] != nullptr) {
    *table[slot] = reinterpret_cast<NvtxFunctionPointer>(function);
  }
}

template <uint32_t kModule, uint32_t kSlot = 1>
void InstallNames(NvtxFunctionTable table, unsigned size) noexcept {
  if constexpr (kSlot < kChainSlots) {
    Install(table, size, kSlot, &IgnoreName<kModule, kSlot>);
    InstallNames<kModule, kSlot + 1>(table, size);
  }
}

void InstallSync(NvtxFunctionTable table, unsigned size) noexcept {
  Install(table, size, NVTX_CBID_SYNC_DomainSyncUserCreate, &IgnoreSyncCreate);
  Install(table, size, NVTX_CBID_SYNC_DomainSyncUserDestroy,
          &IgnoreSync<NVTX_CBID_SYNC_DomainSyncUserDestroy>);
  Install(table, size, NVTX_CBID_SYNC_DomainSyncUserAcquireStart,
          &IgnoreSync<NVTX_CBID_SYNC_DomainSyncUserAcquireStart>);
  Install(table, size, NVTX_CBID_SYNC_DomainSyncUserAcquireFailed,
          &IgnoreSync<NVTX_CBID_SYNC_DomainSyncUserAcquireFailed>);
  Install(table, size, NVTX_CBID_SYNC_DomainSyncUserAcquireSuccess,
          &IgnoreSync<NVTX_CBID_SYNC_DomainSyncUserAcquireSuccess>);
  Install(table, size, NVTX_CBID_SYNC_DomainSyncUserReleasing,
          &IgnoreSync<NVTX_CBID_SYNC_DomainSyncUserReleasing>);
}

}  // namespace

void CountIgnored(IgnoredGroup group) noexcept {
  const auto index = static_cast<uint32_t>(group);
  const uint64_t calls = Ignored::groups[index].calls.fetch_add(1, std::memory_order_relaxed) + 1;
  if (Active() && std::has_single_bit(calls)) NoteGroup(index);
}

uint64_t IgnoredCalls(IgnoredGroup group) noexcept {
  return Ignored::groups[static_cast<uint32_t>(group)].calls.load(std::memory_order_relaxed);
}

void EmitIgnored() noexcept {
  for (uint32_t index = 0; index < kIgnoredGroups; ++index) NoteGroup(index);
}

void InstallIgnored(NvtxCallbackModule module, NvtxFunctionTable table, unsigned size) noexcept {
  switch (module) {
    case NVTX_CB_MODULE_CUDA:
      return InstallNames<NVTX_CB_MODULE_CUDA>(table, size);
    case NVTX_CB_MODULE_OPENCL:
      return InstallNames<NVTX_CB_MODULE_OPENCL>(table, size);
    case NVTX_CB_MODULE_CUDART:
      return InstallNames<NVTX_CB_MODULE_CUDART>(table, size);
    default:
      return InstallSync(table, size);
  }
}

}  // namespace tutti::tracer::nvtx
