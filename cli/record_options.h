// The forms in which `tutti record` takes sizes, times, steps and sources.
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "collector/collector.h"
#include "common/status.h"

namespace tutti::cli {

// "64M": a number with K, M, G or T (powers of 1024), an optional B or iB, or none of them.
Result<uint64_t> ParseBytes(std::string_view text);

// "1s", "500ms", "2m"; a number alone is seconds. In ns.
Result<int64_t> ParseDuration(std::string_view text);

// "A:B": steps from A up to but not including B; either may be left out.
Result<collector::convert::StepRange> ParseSteps(std::string_view text);

// "torch,nvtx,memory,system" -> capture bits, sampling and names in |options|.
Status ParseSources(std::string_view text, collector::RecordOptions* options);

}  // namespace tutti::cli
