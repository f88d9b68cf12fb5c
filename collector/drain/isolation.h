// Sets the drainer process apart from the job: it must not take the job's CPU time, not
// hear its signals, and not hold its terminal or pipes open. Call once, single-threaded.
#pragma once

#include <string>

namespace tutti::collector::drain {

// Messages of libraries go to "drainer.log" in |log_directory|.
void Isolate(const std::string& log_directory);

}  // namespace tutti::collector::drain
