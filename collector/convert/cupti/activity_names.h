// Words for what CUPTI's records say in numbers, and names as people know them. The numbers are
// those of cupti_activity.h. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::collector::convert::cupti {

// CUpti_ActivityMemcpyKind: "HtoD", …; "unknown" for a number of no release.
std::string CopyKindName(uint8_t kind);

// CUpti_ActivityMemoryKind: "pageable", "pinned", "device", …; absent where it is not told.
std::optional<std::string> MemoryKindName(uint32_t kind);

// CUpti_ActivitySynchronizationType, in the words of sync.kind; nullptr for an unknown number.
const char* SynchronizationName(uint32_t type);

// CUpti_ActivityOverheadKind: "Buffer Flush", …
std::string OverheadName(uint32_t kind);

// CUpti_ActivityJitOperationType and -EntryType: "JIT compile (PTX to cubin)", …
std::string JitName(uint32_t operation, uint32_t entry);

// "_Z3addPfS_i" -> "add(float*, float*, int)"; a name that is not mangled stays as it is.
std::string DemangledName(std::string_view name);

// "cudaLaunchKernel_ptsz_v7000" -> "cudaLaunchKernel": without the version by which the
// library tells its entries apart and without the mark of per-thread default streams.
std::string_view ApiFunctionName(std::string_view name);

}  // namespace tutti::collector::convert::cupti
