// Captures of one process, one after another: what a profiler leaves that is on for a few steps
// again and again (torch.profiler's schedule with repeat above 1). They are windows on one rank,
// not runs.
// Pure functions; callable from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "collector/importers/captures.h"

namespace tutti::collector::importers {

// The part of a file's name before "<time>.pt.trace.json", as tensorboard_trace_handler names
// files: "host_4711.1700000000000.pt.trace.json.gz" -> "host_4711"; "" for other names.
std::string_view WorkerOf(std::string_view path);

// Places in `claims` that one process may have made, two or more each: of equal rank, host and
// process id (or worker, where no id is known), in order of time, none while another was made.
std::vector<std::vector<size_t>> CapturesOfProcesses(const std::vector<CaptureClaim>& claims);

// Whether such captures are of one run: their steps go on counting, or, where they have none, a
// folder holds them all under one worker's name. Process ids alone prove little: the first process
// of every container has the same.
bool AreOfOneRun(const std::vector<const CaptureClaim*>& captures);

}  // namespace tutti::collector::importers
