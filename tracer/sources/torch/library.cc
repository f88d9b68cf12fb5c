#include "tracer/sources/torch/library.h"

#include <dlfcn.h>
#include <link.h>

namespace tutti::tracer::torch {
namespace {

constexpr char kTorchCpu[] = "libtorch_cpu.so";
constexpr char kC10[] = "libc10.so";

// A handle of a library that is loaded already, or nullptr. It is never closed: the tracer
// calls into the library for as long as the process lives.
void* LoadedLibrary(const char* name) noexcept { return dlopen(name, RTLD_NOLOAD | RTLD_LAZY); }

// The object that the library itself uses under this name. A program linked to PyTorch may
// hold it instead (a copy relocation), which comes first in the global scope then.
const void* FindData(const char* soname, const char* symbol) noexcept {
  const void* data = dlsym(RTLD_DEFAULT, symbol);
  return data != nullptr ? data : FindSymbol(soname, symbol);
}

template <typename Function>
bool Assign(Function* function, const char* symbol) noexcept {
  *function = reinterpret_cast<Function>(FindSymbol(kTorchCpu, symbol));
  return *function != nullptr;
}

#define TUTTI_REQUIRE(field, symbol)        \
  if (!Assign(&library->field, (symbol))) { \
    return (symbol);                        \
  }

// Each returns the first name that is missing, nullptr when all are there.
const char* FindRecordFunction(Library* library) noexcept {
  TUTTI_REQUIRE(add_global_callback, "_ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE");
  TUTTI_REQUIRE(name, "_ZNK2at14RecordFunction4nameEv");
  TUTTI_REQUIRE(is_async, "_ZNK2at14RecordFunction7isAsyncEv");
  TUTTI_REQUIRE(num_inputs, "_ZNK2at14RecordFunction10num_inputsEv");
  TUTTI_REQUIRE(num_outputs, "_ZNK2at14RecordFunction11num_outputsEv");
  TUTTI_REQUIRE(construct, "_ZN2at14RecordFunctionC1EONS_13StepCallbacksE");
  TUTTI_REQUIRE(destroy, "_ZN2at14RecordFunctionD1Ev");
  TUTTI_REQUIRE(set_async, "_ZN2at14RecordFunction9_setAsyncEv");
  TUTTI_REQUIRE(end, "_ZN2at14RecordFunction3endEv");
  constexpr char kBefore[] =
      "_ZN2at14RecordFunction6beforeESt7variantIJSt17basic_string_viewIcSt11char_traitsIcEE"
      "St17reference_wrapperIKN3c1014FunctionSchemaEEEEl";
  const bool has_before = Assign(&library->before, kBefore);
  const bool has_text = Assign(&library->before_text, "_ZN2at14RecordFunction6beforeEPKcl");
  return has_before || has_text ? nullptr : "at::RecordFunction::before";
}

#undef TUTTI_REQUIRE

void FindDistributed(Library* library) noexcept {
  Assign(&library->backend_construct, "_ZN4c10d7BackendC1Eii");
  Assign(&library->backend_destroy, "_ZN4c10d7BackendD1Ev");
  Assign(&library->gloo_group_ranks, "_ZNK4c10d16ProcessGroupGloo10groupRanksEv");
  Assign(&library->work_op_type, "_ZNK4c10d4Work14retrieveOpTypeEv");
}

// aoti_torch_abi_version(): major, minor, patch in the top three bytes.
Version ReadVersion() noexcept {
  const auto version =
      reinterpret_cast<uint64_t (*)()>(FindSymbol(kTorchCpu, "aoti_torch_abi_version"));
  const uint64_t bits = version == nullptr ? 0 : version();
  return {static_cast<uint8_t>(bits >> 56), static_cast<uint8_t>(bits >> 48),
          static_cast<uint8_t>(bits >> 40)};
}

}  // namespace

void* FindSymbol(const char* soname, const char* symbol) noexcept {
  void* handle = LoadedLibrary(soname);
  return handle == nullptr ? nullptr : dlsym(handle, symbol);
}

void* FindReal(const char* soname, const char* symbol) noexcept {
  void* found = FindSymbol(soname, symbol);
  if (found != nullptr) {
    return found;
  }
  link_map* map = nullptr;
  void* self = dlopen(nullptr, RTLD_LAZY);
  if (self == nullptr || dlinfo(self, RTLD_DI_LINKMAP, &map) != 0) {
    return nullptr;
  }
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&FindReal), &here);
  for (; map != nullptr; map = map->l_next) {
    // The first map is the program itself, which has no name.
    void* handle = map->l_name[0] == '\0' ? self : LoadedLibrary(map->l_name);
    found = handle == nullptr ? nullptr : dlsym(handle, symbol);
    Dl_info there{};
    // A handle's scope is the library and what it depends on, so this may be our own again.
    if (found != nullptr && dladdr(found, &there) != 0 && there.dli_fbase != here.dli_fbase) {
      return found;
    }
  }
  return nullptr;
}

bool FindLibrary(Library* library, const char** missing) noexcept {
  *library = Library{};
  *missing = nullptr;
  if (LoadedLibrary(kTorchCpu) == nullptr) {
    return false;
  }
  library->version = ReadVersion();
  *missing = FindRecordFunction(library);
  FindDistributed(library);
  library->undefined_tensor = FindData(kC10, "_ZN3c1019UndefinedTensorImpl10_singletonE");
  return *missing == nullptr;
}

}  // namespace tutti::tracer::torch
