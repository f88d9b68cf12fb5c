#include "tracer/sources/nvtx/chain.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tracer/core/note.h"

namespace tutti::tracer::nvtx {
namespace {

// Slots of each NVTX module (nvtxTypes.h).
constexpr unsigned kSlotCounts[kChainModules] = {0,
                                                 NVTX_CBID_CORE_SIZE,
                                                 NVTX_CBID_CUDA_SIZE,
                                                 NVTX_CBID_OPENCL_SIZE,
                                                 NVTX_CBID_CUDART_SIZE,
                                                 NVTX_CBID_CORE2_SIZE,
                                                 NVTX_CBID_SYNC_SIZE};

// What the chained tool writes into, as it would into a library's tables.
struct Shown {
  static inline constinit NvtxFunctionPointer slots[kChainModules][kChainSlots]{};
  static inline constinit NvtxFunctionPointer* tables[kChainModules][kChainSlots + 1]{};
  static inline constinit intptr_t extension_slots[kChainExtensionSlots]{};
  static inline constinit nvtxExtModuleSegment_t extension_segment{};
  static inline constinit NvtxGetExportTableFunc_t real = nullptr;
};

struct ChainedTool {
  static inline constinit std::atomic<bool> attached{false};
  static inline constinit std::atomic<bool> extension_attached{false};
  static inline constinit std::atomic<void*> library{nullptr};
};

int ShowModule(NvtxCallbackModule module, NvtxFunctionTable* out_table, unsigned* out_size) {
  if (module <= NVTX_CB_MODULE_INVALID || module >= NVTX_CB_MODULE_SIZE) return 0;
  if (out_size != nullptr) *out_size = kSlotCounts[module];
  if (out_table != nullptr) *out_table = Shown::tables[module];
  return 1;
}

const void* ShowExportTable(uint32_t id) {
  static constexpr NvtxExportTableCallbacks kCallbacks = {sizeof(kCallbacks), &ShowModule};
  return id == NVTX_ETID_CALLBACKS ? &kCallbacks : Shown::real(id);
}

void NoteUnchained(const char* path, const char* why) noexcept {
  char detail[256];
  std::snprintf(detail, sizeof(detail), "the NVTX tool %s of the environment %s", path, why);
  Note({wire::NoteSeverity::kNotice, "nvtx", "nvtx_chain", detail,
        "record without NVTX (--trace) to use that tool alone"});
}

void PrepareTables() noexcept {
  for (uint32_t module = 1; module < kChainModules; ++module) {
    for (uint32_t slot = 1; slot < kSlotCounts[module]; ++slot) {
      Shown::tables[module][slot] = &Shown::slots[module][slot];
    }
  }
}

void TakeFunctions() noexcept {
  for (uint32_t module = 1; module < kChainModules; ++module) {
    for (uint32_t slot = 1; slot < kSlotCounts[module]; ++slot) {
      Chain::functions[module][slot].store(Shown::slots[module][slot], std::memory_order_release);
    }
  }
}

// Whether |function| is ours: TUTTI_NVTX_CHAIN may name this very library.
bool IsOurs(const void* function) noexcept {
  Dl_info theirs;
  Dl_info ours;
  return dladdr(function, &theirs) != 0 &&
         dladdr(reinterpret_cast<const void*>(&Chain::Attach), &ours) != 0 &&
         theirs.dli_fbase == ours.dli_fbase;
}

}  // namespace

void Chain::Attach(NvtxGetExportTableFunc_t real) noexcept {
  const char* path = secure_getenv("TUTTI_NVTX_CHAIN");
  if (path == nullptr || *path == '\0') return;
  if (ChainedTool::attached.exchange(true)) return;
  void* library = dlopen(path, RTLD_LAZY);
  if (library == nullptr) return NoteUnchained(path, "can't be loaded");
  void* found = dlsym(library, "InitializeInjectionNvtx2");
  if (found == nullptr) return NoteUnchained(path, "is none for NVTX 3");
  if (IsOurs(found)) return;
  Shown::real = real;
  PrepareTables();
  if (reinterpret_cast<NvtxInitializeInjectionNvtxFunc_t>(found)(&ShowExportTable) == 0) {
    return NoteUnchained(path, "did not want to be loaded");
  }
  TakeFunctions();
  ChainedTool::library.store(library, std::memory_order_release);
}

void Chain::AttachExtension(const nvtxExtModuleInfo_t& module) noexcept {
  void* library = ChainedTool::library.load(std::memory_order_acquire);
  if (library == nullptr || module.segmentsCount == 0) return;
  if (ChainedTool::extension_attached.exchange(true)) return;
  void* found = dlsym(library, "InitializeInjectionNvtxExtension");
  if (found == nullptr) return;  // the tool knows no extended payloads; nothing is kept from it
  Shown::extension_segment = module.segments[0];
  Shown::extension_segment.functionSlots = Shown::extension_slots;
  if (Shown::extension_segment.slotCount > kChainExtensionSlots) {
    Shown::extension_segment.slotCount = kChainExtensionSlots;
  }
  static constinit nvtxExtModuleInfo_t shown{};
  shown = module;
  shown.segmentsCount = 1;
  shown.segments = &Shown::extension_segment;
  if (reinterpret_cast<NvtxExtInitializeInjectionFunc_t>(found)(&shown) == 0) return;
  for (uint32_t slot = 0; slot < kChainExtensionSlots; ++slot) {
    extension[slot].store(Shown::extension_slots[slot], std::memory_order_release);
  }
}

}  // namespace tutti::tracer::nvtx
