// Starting a program, and what became of it in a shell's terms. One thread.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/supervise/environment.h"
#include "common/status.h"

namespace tutti::collector::supervise {

inline constexpr int kExitOurs = 125;  // `tutti record` itself failed
inline constexpr int kExitNotRunnable = 126;
inline constexpr int kExitNotFound = 127;

// What the supervisor changed of its own signals, to be undone in a child.
struct SignalState {
  sigset_t mask;
  struct sigaction child_action;  // of SIGCHLD
  struct sigaction pipe_action;   // of SIGPIPE
  struct sigaction size_action;   // of SIGXFSZ
};

// Where |program| is found as execvp would, with PATH of |environment|; "" nowhere.
std::string FindProgram(const std::string& program, const Environment& environment);

struct StartFailure {
  int exit_status;  // kExitNotFound or kExitNotRunnable
  std::string message;
};

struct StartedChild {
  pid_t pid = -1;
  std::optional<StartFailure> failure;
};

// Starts |argv| with |environment|; returns once the program runs or could not be run.
// The child has the descriptors 0, 1, 2 and whatever else is not close-on-exec.
StartedChild StartChild(const std::vector<std::string>& argv, const Environment& environment,
                        const SignalState& signals);

// 0…255 of a wait status: the exit code, or 128 + the signal.
int32_t ExitStatusOf(int wait_status);

}  // namespace tutti::collector::supervise
