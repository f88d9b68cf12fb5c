// What on this machine stands in the way of a recording, or makes step times noisy.
//
// Each check looks at one thing and says what it found, in one line, and what to do about it
// where there is something to do. Checks only read; none needs root or a GPU.
// Callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"

namespace tutti::collector {

enum class Health {
  kGood,     // nothing to do
  kNote,     // training or its times may suffer
  kProblem,  // a recording would fail or lack what its users expect
};

struct Checkup {
  std::string name;  // stable short code: "clock_source"
  Health health = Health::kGood;
  std::string found;   // "tsc"
  std::string advice;  // what to do, "" nothing
};

struct DoctorOptions {
  std::optional<std::string> data;  // a file, or a folder of files, that training reads
  std::optional<std::string> run;   // a run: its ranks should be alike
};

// Every check, in the order in which they are worth reading. kIo or kNotFound where the data
// or the run can't be read.
Result<std::vector<Checkup>> CheckMachine(const DoctorOptions& options);

}  // namespace tutti::collector
