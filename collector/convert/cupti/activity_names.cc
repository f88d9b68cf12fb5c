#include "collector/convert/cupti/activity_names.h"

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>

namespace tutti::collector::convert::cupti {
namespace {

template <size_t kCount>
const char* NameOf(const std::array<const char*, kCount>& names, uint64_t number) {
  return number < kCount ? names[number] : nullptr;
}

}  // namespace

std::string CopyKindName(uint8_t kind) {
  constexpr std::array kNames = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                 "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
  const char* name = NameOf(kNames, kind);
  return name == nullptr ? "unknown" : name;
}

std::optional<std::string> MemoryKindName(uint32_t kind) {
  constexpr std::array kNames = {"pageable", "pinned",        "device",        "array",
                                 "managed",  "device_static", "managed_static"};
  const char* name = kind == 0 ? nullptr : NameOf(kNames, kind - 1);
  if (name == nullptr) return std::nullopt;
  return name;
}

const char* SynchronizationName(uint32_t type) {
  constexpr std::array kNames = {"unknown", "event", "stream_wait_event", "stream", "context"};
  return NameOf(kNames, type);
}

std::string OverheadName(uint32_t kind) {
  if (kind == 1) return "Driver Compiler";
  constexpr uint32_t kShift = 16;  // CUPTI's own kinds are multiples of 65536
  constexpr std::array kNames = {"Unknown",
                                 "Buffer Flush",
                                 "Instrumentation",
                                 "Resource",
                                 "Runtime Triggered Module Loading",
                                 "Lazy Function Loading",
                                 "Command Buffer Full",
                                 "Activity Buffer Request",
                                 "UVM Activity Init"};
  const bool is_multiple = (kind & ((1U << kShift) - 1)) == 0;
  const char* name = is_multiple ? NameOf(kNames, kind >> kShift) : nullptr;
  return name == nullptr ? "Unknown (" + std::to_string(kind) + ")" : name;
}

std::string JitName(uint32_t operation, uint32_t entry) {
  constexpr std::array kOperations = {"JIT", "JIT cache load", "JIT cache store", "JIT compile"};
  constexpr std::array kEntries = {"", " (PTX to cubin)", " (NVVM IR to PTX)"};
  const char* what = NameOf(kOperations, operation);
  const char* from = NameOf(kEntries, entry);
  return std::string(what == nullptr ? "JIT" : what) + (from == nullptr ? "" : from);
}

std::string DemangledName(std::string_view name) {
  const std::string mangled(name);
  if (!name.starts_with("_Z")) return mangled;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && demangled != nullptr ? std::string(demangled.get()) : mangled;
}

std::string_view ApiFunctionName(std::string_view name) {
  const size_t version = name.rfind("_v");
  if (name.starts_with("cuda") && version != std::string_view::npos && version + 2 < name.size() &&
      name.find_first_not_of("0123456789", version + 2) == std::string_view::npos) {
    name = name.substr(0, version);
  }
  for (const std::string_view mark : {"_ptsz", "_ptds"}) {
    if (name.ends_with(mark)) name.remove_suffix(mark.size());
  }
  return name;
}

}  // namespace tutti::collector::convert::cupti
