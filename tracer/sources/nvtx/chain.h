// A user's own NVTX tool behind ours. NVTX loads one tool, named in NVTX_INJECTION64_PATH;
// `tutti record` takes that variable and puts the user's value into TUTTI_NVTX_CHAIN. We
// load that tool and show it function tables of our own, as NVTX would; each of our
// callbacks passes its call on, arguments untouched. That they may stay untouched, programs
// get the chained tool's handles and ids where it gives any, and we look ours up by them.
//
// Not chained: extension modules other than payloads, which we can't forward.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tracer/sources/nvtx/abi.h"

namespace tutti::tracer::nvtx {

inline constexpr uint32_t kChainModules = NVTX_CB_MODULE_SIZE;
inline constexpr uint32_t kChainSlots = 16;  // the largest module has 16
static_assert(NVTX_CBID_CORE_SIZE <= kChainSlots && NVTX_CBID_CORE2_SIZE <= kChainSlots &&
              NVTX_CBID_OPENCL_SIZE <= kChainSlots);
inline constexpr uint32_t kChainExtensionSlots = 64;

class Chain {
 public:
  // Loads and initialises the chained tool, if there is one; |real| is the export table
  // function of the library that asked for a tool. Once a process; what can't be chained is
  // noted.
  static void Attach(NvtxGetExportTableFunc_t real) noexcept;

  // The same for the payload extension, with that library's module.
  static void AttachExtension(const nvtxExtModuleInfo_t& module) noexcept;

  // Calls the chained tool's function, or returns |otherwise| if there is none.
  template <typename Function, typename Result, typename... Arguments>
  static Result Call(uint32_t module, uint32_t slot, Result otherwise,
                     Arguments... arguments) noexcept {
    const NvtxFunctionPointer function = functions[module][slot].load(std::memory_order_acquire);
    if (function == nullptr) return otherwise;
    return reinterpret_cast<Function>(function)(arguments...);
  }
  template <typename Function, typename... Arguments>
  static void Notify(uint32_t module, uint32_t slot, Arguments... arguments) noexcept {
    const NvtxFunctionPointer function = functions[module][slot].load(std::memory_order_acquire);
    if (function != nullptr) reinterpret_cast<Function>(function)(arguments...);
  }

  // The same for functions of the payload extension.
  template <typename Result, typename... Arguments>
  static Result CallExtension(uint32_t slot, Result otherwise, Arguments... arguments) noexcept {
    const intptr_t function = extension[slot].load(std::memory_order_acquire);
    if (function == 0) return otherwise;
    return std::bit_cast<Result (*)(Arguments...)>(function)(arguments...);
  }
  template <typename... Arguments>
  static void NotifyExtension(uint32_t slot, Arguments... arguments) noexcept {
    const intptr_t function = extension[slot].load(std::memory_order_acquire);
    if (function != 0) std::bit_cast<void (*)(Arguments...)>(function)(arguments...);
  }

  // What the chained tool installed; null where it did not, and before it is attached.
  static inline constinit std::atomic<NvtxFunctionPointer> functions[kChainModules][kChainSlots]{};
  static inline constinit std::atomic<intptr_t> extension[kChainExtensionSlots]{};
};

}  // namespace tutti::tracer::nvtx
