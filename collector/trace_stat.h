// What rows of trace_stat have in common, whoever makes them. Pure functions.
#pragma once

#include <cstdint>
#include <limits>

#include "common/wire/record.h"

namespace tutti::collector {

// As in trace_stat.severity.
inline const char* SeverityName(wire::NoteSeverity severity) {
  switch (severity) {
    case wire::NoteSeverity::kInfo:
      return "info";
    case wire::NoteSeverity::kNotice:
      return "notice";
    case wire::NoteSeverity::kDataLoss:
      return "data_loss";
    case wire::NoteSeverity::kError:
      return "error";
  }
  return "error";  // a value that no tracer writes
}

// Counts come from the traced process or from a file, which may hold anything.
inline int64_t SaturatingSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

}  // namespace tutti::collector
