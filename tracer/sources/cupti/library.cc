#include "tracer/sources/cupti/library.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace tutti::tracer::cupti {
namespace {

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};
constexpr const char* kFolders[] = {"/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/",
                                    "/usr/lib/x86_64-linux-gnu/"};

void* OpenLoaded() noexcept {
  for (const char* name : kNames) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) return handle;
  }
  return nullptr;
}

void* OpenFound() noexcept {
  for (const char* name : kNames) {
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  for (const char* folder : kFolders) {
    for (const char* name : kNames) {
      char path[256];
      std::snprintf(path, sizeof(path), "%s%s", folder, name);
      if (void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return handle;
    }
  }
  return nullptr;
}

void* Open() noexcept {
  if (const char* path = secure_getenv("TUTTI_CUPTI_LIBRARY"); path != nullptr && *path != '\0') {
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  void* loaded = OpenLoaded();
  return loaded != nullptr ? loaded : OpenFound();
}

enum class Need { kOptional, kRequired };

}  // namespace

const char* FindLibrary(Library* library) noexcept {
  void* handle = Open();
  if (handle == nullptr) return "libcupti.so.13 or .12 was not found";
  const char* missing = nullptr;
  Functions& functions = library->functions;
#define TUTTI_CUPTI_FIND(need, member, symbol, ...)                                           \
  functions.member = reinterpret_cast<Functions::member##_signature*>(dlsym(handle, symbol)); \
  if (Need::need == Need::kRequired && functions.member == nullptr) missing = symbol;
  TUTTI_CUPTI_FUNCTIONS(TUTTI_CUPTI_FIND)
#undef TUTTI_CUPTI_FIND
  if (missing != nullptr) return "libcupti lacks functions that are needed (CUDA 12.4 has them)";
  if (functions.get_version(&library->version) != kSuccess || library->version == 0) {
    return "libcupti does not tell its version: its driver is missing";
  }
  if (library->version < kOldestVersion) return "libcupti is older than CUDA 12.4";
  return nullptr;
}

}  // namespace tutti::tracer::cupti
