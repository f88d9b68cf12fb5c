// The raw tables whose rows are events: what a rank did, and what was measured on it. Other
// tables describe (processes, threads, devices) or count.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace tutti::schema {

inline constexpr std::array<std::string_view, 17> kEventTables = {
    "step",      "range",   "phase",        "cpu_op",         "api_call",
    "kernel",    "memcpy",  "memset",       "sync",           "collective_source",
    "data_wait", "batch",   "memory_event", "counter_sample", "python_call",
    "gpu_range", "overhead"};

constexpr bool IsEventTable(std::string_view table) {
  return std::find(kEventTables.begin(), kEventTables.end(), table) != kEventTables.end();
}

}  // namespace tutti::schema
