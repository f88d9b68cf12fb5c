#include "tracer/core/preload.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tutti::tracer {
namespace {

constexpr size_t kMaxValueBytes = 16384;

bool IsSeparator(char c) noexcept { return c == ':' || c == ' '; }

const char* OwnPath() noexcept {
  Dl_info info;
  return dladdr(reinterpret_cast<const void*>(&RemoveOwnPreload), &info) != 0 ? info.dli_fname : "";
}

// Whether |entry| is the file that this code was loaded from: by name, or, for another
// spelling of the path, by inode.
bool IsOwnLibrary(std::string_view entry) noexcept {
  const std::string_view own = OwnPath();
  if (entry == own) return true;
  char path[4096];
  if (entry.empty() || entry.size() >= sizeof(path)) return false;
  std::memcpy(path, entry.data(), entry.size());
  path[entry.size()] = '\0';
  if (std::strchr(path, '/') == nullptr) {
    return own.size() > entry.size() && own.ends_with(entry) &&
           own[own.size() - entry.size() - 1] == '/';
  }
  struct stat theirs;
  struct stat ours;
  return stat(path, &theirs) == 0 && stat(own.data(), &ours) == 0 && theirs.st_dev == ours.st_dev &&
         theirs.st_ino == ours.st_ino;
}

// Writes memory of this process through the kernel, which reports what a store would crash
// on. The second way also writes read-only pages and works where seccomp forbids the first.
bool WriteOwnMemory(char* to, const char* from, size_t bytes) noexcept {
  const iovec local{const_cast<char*>(from), bytes};
  const iovec remote{to, bytes};
  if (process_vm_writev(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes)) {
    return true;
  }
  const int file = open("/proc/self/mem", O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t written =
      pwrite(file, from, bytes, static_cast<off_t>(reinterpret_cast<intptr_t>(to)));
  close(file);
  return written == static_cast<ssize_t>(bytes);
}

}  // namespace

size_t WithoutEntries(std::string_view value, bool (*is_ours)(std::string_view),
                      char* out) noexcept {
  size_t length = 0;
  size_t begin = 0;
  while (begin < value.size()) {
    size_t end = begin;
    while (end < value.size() && !IsSeparator(value[end])) ++end;
    const std::string_view entry = value.substr(begin, end - begin);
    // An entry goes with the separator after it, the last one with the one before it.
    const size_t next = end < value.size() ? end + 1 : end;
    if (!is_ours(entry)) {
      std::memcpy(out + length, value.data() + begin, next - begin);
      length += next - begin;
    } else if (next == end && length > 0) {
      --length;
    }
    begin = next;
  }
  out[length] = '\0';
  return length;
}

bool RemoveOwnPreload() noexcept {
  char* value = secure_getenv("LD_PRELOAD");
  if (value == nullptr) return true;
  const size_t before = std::strlen(value);
  if (before >= kMaxValueBytes) return false;
  char rest[kMaxValueBytes];
  const size_t after = WithoutEntries({value, before}, &IsOwnLibrary, rest);
  return after == before || WriteOwnMemory(value, rest, after + 1);
}

}  // namespace tutti::tracer
