// Facts about this process and its threads from /proc. System calls, no allocation; for
// claims and the handshake, never for events.
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstdint>

namespace tutti::tracer {

// Keeps errno as the traced program left it, over a block that makes system calls.
class ErrnoKeeper {
 public:
  ErrnoKeeper() noexcept : saved_(errno) {}
  ~ErrnoKeeper() { errno = saved_; }
  ErrnoKeeper(const ErrnoKeeper&) = delete;
  ErrnoKeeper& operator=(const ErrnoKeeper&) = delete;

 private:
  int saved_;
};

pid_t ThreadId() noexcept;

// Field 22 (starttime, clock ticks since boot) of the text of a /proc/…/stat file; 0 if the
// text is none. The command in field 2 may hold spaces and parentheses.
uint64_t ParseStartTicks(const char* stat) noexcept;

// The same of this process, or of its thread |tid|; 0 if /proc can't be read.
uint64_t ProcessStartTicks() noexcept;
uint64_t ThreadStartTicks(pid_t tid) noexcept;

}  // namespace tutti::tracer
