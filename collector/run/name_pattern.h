// Patterns in output names, as users know them from nsys and rocprofv3:
//   %h host   %p process id   %q{NAME} environment variable   %n lowest free number
//   %r rank   %s world size   %j job id   %% a per cent sign
// Pure functions over the given environment, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "collector/run/job_identity.h"
#include "common/status.h"

namespace tutti::collector::run {

bool HasNumber(std::string_view pattern);  // whether it holds %n

// |number| stands for %n. kUsage: an unknown pattern, or a variable that is not set.
Result<std::string> ExpandName(std::string_view pattern, int number, GetVariable get);

}  // namespace tutti::collector::run
