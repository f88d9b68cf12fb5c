#include "schema/testing/fault_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <new>

namespace tutti::schema::testing {
namespace {

FaultPlan g_plan;      // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
int64_t g_calls = 0;   // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)
int64_t g_faults = 0;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables)

sqlite3_vfs* DefaultVfs() {
  static sqlite3_vfs* const vfs = sqlite3_vfs_find(nullptr);
  return vfs;
}

// Followed in memory by the default layer's own file object.
struct FaultFile : sqlite3_file {
  sqlite3_file* real;
};

sqlite3_file* Real(sqlite3_file* file) { return static_cast<FaultFile*>(file)->real; }

// Counts a call; SQLITE_OK or the code that it must fail with.
int NextFault() {
  ++g_calls;
  const bool fails = g_plan.fail_call > 0 && (g_plan.keep_failing ? g_calls >= g_plan.fail_call
                                                                  : g_calls == g_plan.fail_call);
  if (!fails) return SQLITE_OK;
  ++g_faults;
  return g_plan.error;
}

int64_t FolderBytes() {
  int64_t bytes = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(g_plan.folder, ignored)) {
    const uintmax_t size = entry.file_size(ignored);
    if (!ignored) bytes += static_cast<int64_t>(size);
  }
  return bytes;
}

bool OverQuota(sqlite3_file* file, int64_t new_size) {
  if (g_plan.quota_bytes == 0) return false;
  sqlite3_int64 size = 0;
  Real(file)->pMethods->xFileSize(Real(file), &size);
  if (new_size <= size || FolderBytes() + new_size - size <= g_plan.quota_bytes) return false;
  ++g_faults;
  return true;
}

int Close(sqlite3_file* file) { return Real(file)->pMethods->xClose(Real(file)); }
int Read(sqlite3_file* file, void* buffer, int bytes, sqlite3_int64 offset) {
  return Real(file)->pMethods->xRead(Real(file), buffer, bytes, offset);
}
int Write(sqlite3_file* file, const void* buffer, int bytes, sqlite3_int64 offset) {
  if (const int fault = NextFault(); fault != SQLITE_OK) return fault;
  if (OverQuota(file, offset + bytes)) return SQLITE_FULL;
  return Real(file)->pMethods->xWrite(Real(file), buffer, bytes, offset);
}
int Truncate(sqlite3_file* file, sqlite3_int64 size) {
  if (NextFault() != SQLITE_OK) return SQLITE_IOERR_TRUNCATE;
  return Real(file)->pMethods->xTruncate(Real(file), size);
}
int Sync(sqlite3_file* file, int flags) {
  if (NextFault() != SQLITE_OK) return SQLITE_IOERR_FSYNC;
  return Real(file)->pMethods->xSync(Real(file), flags);
}
int FileSize(sqlite3_file* file, sqlite3_int64* size) {
  return Real(file)->pMethods->xFileSize(Real(file), size);
}
int Lock(sqlite3_file* file, int level) { return Real(file)->pMethods->xLock(Real(file), level); }
int Unlock(sqlite3_file* file, int level) {
  return Real(file)->pMethods->xUnlock(Real(file), level);
}
int CheckReservedLock(sqlite3_file* file, int* result) {
  return Real(file)->pMethods->xCheckReservedLock(Real(file), result);
}
int FileControl(sqlite3_file* file, int operation, void* argument) {
  if (operation == SQLITE_FCNTL_SIZE_HINT) {
    if (NextFault() != SQLITE_OK) return SQLITE_IOERR_WRITE;
    constexpr int64_t kChunk = 1 << 20;  // as trace_store.cc sets it
    const int64_t hint = *static_cast<sqlite3_int64*>(argument);
    if (OverQuota(file, (hint + kChunk - 1) / kChunk * kChunk)) return SQLITE_IOERR_WRITE;
  }
  return Real(file)->pMethods->xFileControl(Real(file), operation, argument);
}
int SectorSize(sqlite3_file* file) { return Real(file)->pMethods->xSectorSize(Real(file)); }
int DeviceCharacteristics(sqlite3_file* file) {
  return Real(file)->pMethods->xDeviceCharacteristics(Real(file));
}
int ShmMap(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  return Real(file)->pMethods->xShmMap(Real(file), region, size, extend, memory);
}
int ShmLock(sqlite3_file* file, int offset, int count, int flags) {
  return Real(file)->pMethods->xShmLock(Real(file), offset, count, flags);
}
void ShmBarrier(sqlite3_file* file) { Real(file)->pMethods->xShmBarrier(Real(file)); }
int ShmUnmap(sqlite3_file* file, int remove) {
  return Real(file)->pMethods->xShmUnmap(Real(file), remove);
}

constexpr sqlite3_io_methods kMethods = {
    2,
    Close,
    Read,
    Write,
    Truncate,
    Sync,
    FileSize,
    Lock,
    Unlock,
    CheckReservedLock,
    FileControl,
    SectorSize,
    DeviceCharacteristics,
    ShmMap,
    ShmLock,
    ShmBarrier,
    ShmUnmap,
    nullptr,
    nullptr,
};

int Open(sqlite3_vfs*, const char* path, sqlite3_file* base, int flags, int* out_flags) {
  auto* file = static_cast<FaultFile*>(base);
  file->pMethods = nullptr;
  file->real =
      reinterpret_cast<sqlite3_file*>(reinterpret_cast<std::byte*>(base) + sizeof(FaultFile));
  const int code = DefaultVfs()->xOpen(DefaultVfs(), path, file->real, flags, out_flags);
  if (file->real->pMethods != nullptr) file->pMethods = &kMethods;
  return code;
}

void RegisterOnce() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs wrapped = *DefaultVfs();  // every other function works on paths: the same
    wrapped.zName = kFaultVfs;
    wrapped.szOsFile += static_cast<int>(sizeof(FaultFile));
    wrapped.xOpen = Open;
    wrapped.pNext = nullptr;
    return wrapped;
  }();
  static const int registered = sqlite3_vfs_register(&vfs, /*makeDflt=*/0);
  (void)registered;
}

}  // namespace

void SetFaultPlan(const FaultPlan& plan) {
  RegisterOnce();
  g_plan = plan;
  g_calls = 0;
  g_faults = 0;
}

int64_t FaultCalls() { return g_calls; }
int64_t FaultsInjected() { return g_faults; }

}  // namespace tutti::schema::testing
