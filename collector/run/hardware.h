// The machine that a recording runs on, in coarse terms: two runs can be compared if
// these are equal.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace tutti::collector::run {

// {"cpu", "cpus", "memory_bytes", "kernel", "gpus": [names]}; "cpus" are those that this
// process may run on.
nlohmann::ordered_json HardwareJson();

}  // namespace tutti::collector::run
