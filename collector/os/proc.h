// What /proc says about processes and threads. Every function re-reads; an absent
// optional means that the process is gone or not ours to look at. Process ids are
// those of our own pid namespace. Callable from any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::collector::os {

// Fields of /proc/PID/stat (proc(5)). Times are in clock ticks of sysconf(_SC_CLK_TCK).
struct ProcessStat {
  int32_t pid = 0;
  int32_t parent_pid = 0;
  char state = '?';
  uint64_t minor_faults = 0;
  uint64_t major_faults = 0;
  uint64_t user_ticks = 0;
  uint64_t system_ticks = 0;
  uint64_t start_ticks = 0;  // since boot; with the pid it identifies a process
  uint64_t resident_pages = 0;
};

// The text of a stat file; the command in it may hold spaces and parentheses.
std::optional<ProcessStat> ParseProcessStat(std::string_view text);

std::optional<ProcessStat> ReadProcessStat(pid_t pid);
std::optional<ProcessStat> ReadThreadStat(pid_t pid, pid_t tid);

// Thread ids of a process in our pid namespace.
std::vector<pid_t> ListThreads(pid_t pid);

// The id that a thread has in its own, innermost pid namespace (NSpid of its status).
std::optional<pid_t> InnermostThreadId(pid_t pid, pid_t tid);

// Whether |ancestor| (with its start time) is the parent, grandparent, … of |pid|.
bool IsAncestor(pid_t ancestor, uint64_t ancestor_start_ticks, pid_t pid);

// The number after "NAME:" in a text of such lines (status, io); absent if not there.
std::optional<uint64_t> NumberAfter(std::string_view text, std::string_view name);

std::string HostName();
std::string BootId();

}  // namespace tutti::collector::os
