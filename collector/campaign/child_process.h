// Programs that a campaign runs: their output goes to a file, they end with us, and they may be
// given a time. One thread: the process is forked.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/status.h"

namespace tutti::collector::campaign {

struct ChildRequest {
  std::vector<std::string> argv;  // not empty; found as execvp does
  std::string directory = {};     // "": the current one
  std::string log = {};           // output and errors are added to this file
  int64_t timeout_ns = 0;         // 0 none
};

struct ChildOutcome {
  int exit_status = 0;       // 128 + n of signal n
  bool timed_out = false;    // it was ended because of the timeout
  bool interrupted = false;  // it was ended because a signal arrived for us
  int64_t wall_ns = 0;

  bool ok() const { return exit_status == 0 && !timed_out && !interrupted; }
  std::string InWords() const;  // "exit status 3", "no end after 60 s", "signal 9"
};

// Runs it to its end, with nothing on its standard input. A signal noted by os::Interruption is
// handed on once; what doesn't end within 15 s after it, or after the timeout, is killed.
// kIo if it can't be started.
Result<ChildOutcome> RunChild(const ChildRequest& request);

// What a program prints, without the last line feed; its exit status must be 0.
Result<std::string> OutputOf(const std::vector<std::string>& argv, const std::string& directory);

}  // namespace tutti::collector::campaign
