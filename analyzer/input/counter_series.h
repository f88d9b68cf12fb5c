// What the system counted of a rank over time, by the counter's name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/run_context.h"
#include "common/status.h"

namespace tutti::analyzer {

struct CounterPoint {
  int64_t time_ns = 0;  // aligned
  double value = 0;
};

// In order of time; empty where the file has no such counter.
Result<std::vector<CounterPoint>> ReadCounter(RunContext& context, const schema::RankRow& rank,
                                              const std::string& name);

// How fast a cumulative counter rises around a moment, per second of time: between the samples
// before and after it, or the nearest two. 0 with fewer than two samples, or if it falls.
double RateAt(const std::vector<CounterPoint>& points, int64_t time_ns);

}  // namespace tutti::analyzer
