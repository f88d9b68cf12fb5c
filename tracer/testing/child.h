// Runs a program with a changed environment and catches what it says.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace tutti::tracer::testing {

using Environment = std::vector<std::pair<std::string, std::string>>;

// The variables that `tutti record` sets, for the tracer in |library| and |session|; with an
// empty |library| for a program that is linked with the tracer.
Environment TracedEnvironment(const std::string& library, const std::string& session);

// Starts |argv| (found through PATH) with |changes| made to this process's environment; an
// empty value unsets. Its stdout and stderr go to |output_file|, -1 leaves them.
pid_t StartChild(const std::vector<std::string>& argv, const Environment& changes,
                 int output_file = -1);

struct ChildResult {
  int exit_code;       // 128 + n for signal n
  std::string output;  // stdout and stderr
};
ChildResult RunChild(const std::vector<std::string>& argv, const Environment& changes);

}  // namespace tutti::tracer::testing
