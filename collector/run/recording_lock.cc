#include "collector/run/recording_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "collector/os/files.h"

namespace tutti::collector::run {
namespace {

constexpr int kAttempts = 40;

}  // namespace

Result<os::FileDescriptor> LockRecording(const std::string& spool_path) {
  const std::string path = spool_path + "/lock";
  os::FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock.valid()) return os::ErrnoStatus(path, errno);
  // Somebody who asks IsRecording holds it for a moment.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return IoError(path + ": another process holds it");
}

bool IsRecording(const std::string& spool_path) {
  const os::FileDescriptor lock(
      ::open((spool_path + "/lock").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!lock.valid()) return false;
  if (::flock(lock.get(), LOCK_SH | LOCK_NB) == 0) return false;
  return errno == EWOULDBLOCK;
}

}  // namespace tutti::collector::run
