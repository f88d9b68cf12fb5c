// A file in which launches' values are kept over months: SQLite, one row a launch and one a value
// of it. A *series* is what may be compared over time (workload, ranks, kind of device); an
// *epoch* of it ends where its machine or its libraries changed.
// Not thread-safe; several processes may add to one file, one after the other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/compare/launch.h"
#include "common/status.h"

namespace tutti::analyzer::history {

struct StoredLaunch {
  int64_t begin_ns = 0;                       // when it ran: CLOCK_REALTIME
  std::string name = {};                      // as the user gave it
  std::string label = {};                     // a commit, a version: what the user wants to be told
  std::string series = {};                    // "mnist_mlp, 2 ranks, cpu"
  std::string epoch = {};                     // "AMD EPYC 9B14; torch 2.11.0"
  std::map<std::string, double> values = {};  // by name of metric, in its unit
};

// `added_ns` stands for the time of a launch that doesn't tell its own. Its own warm-up is left
// out. kBadData if it has no step whose period is known.
Result<StoredLaunch> ToStored(const compare::Launch& launch, const std::string& label,
                              int64_t added_ns);

// Makes the file if there is none. False: it holds a launch of that series and time already.
Result<bool> AddLaunch(const std::string& path, const StoredLaunch& launch);

// By series, then by time. kNotFound if there is no file, kBadData if it is no history.
Result<std::vector<StoredLaunch>> ReadHistory(const std::string& path);

}  // namespace tutti::analyzer::history
