#include "tracer/core/process_info.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tutti::tracer {
namespace {

uint64_t ReadStartTicks(const char* path) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[1024];
  const ssize_t bytes = read(file, text, sizeof(text) - 1);
  close(file);
  if (bytes <= 0) return 0;
  text[bytes] = '\0';
  return ParseStartTicks(text);
}

}  // namespace

pid_t ThreadId() noexcept { return static_cast<pid_t>(syscall(SYS_gettid)); }

uint64_t ParseStartTicks(const char* stat) noexcept {
  const char* field = std::strrchr(stat, ')');  // ends field 2
  for (int number = 2; field != nullptr && number < 22; ++number) {
    field = std::strchr(field + 1, ' ');
  }
  return field != nullptr ? std::strtoull(field + 1, nullptr, 10) : 0;
}

uint64_t ProcessStartTicks() noexcept { return ReadStartTicks("/proc/self/stat"); }

uint64_t ThreadStartTicks(pid_t tid) noexcept {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
  return ReadStartTicks(path);
}

}  // namespace tutti::tracer
