// Part of the collector's front door: what `tutti record` gives the processes below it, for
// launchers that don't hand their environment on.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tutti::collector {

// The variables that load the tracer into a process and name its recorder, as this process has
// them; empty where it doesn't run below a recorder. Reads the environment.
std::vector<std::pair<std::string, std::string>> InjectedVariables();

}  // namespace tutti::collector
