// Cumulative counters of all ranks, seen by steps.
// Pure functions of what the pass has read, but for ReadRankCounters.
#pragma once

#include <string>
#include <vector>

#include "analyzer/findings/rule.h"
#include "analyzer/input/counter_series.h"

namespace tutti::analyzer {

// A counter of every rank, by place of the rank in the facts.
using RankCounters = std::vector<std::vector<CounterPoint>>;

Result<RankCounters> ReadRankCounters(RunContext& context, const FindingFacts& facts,
                                      const std::string& name);

// By how much the counter grows in a step, by its rate in the middle of it.
double GrowthInStep(const std::vector<CounterPoint>& points, const schema::StepWindowRow& window);

// By how much more than at its median rate it grows between the last reading until
// begin_ns and the first from end_ns on; 0 where there are none.
double ExtraGrowthAround(const std::vector<CounterPoint>& points, int64_t begin_ns, int64_t end_ns);

// Mean growth in the steps that count, by place of the rank; 0 where there is no such counter.
std::vector<double> MeanGrowthInSteps(const FindingFacts& facts, const RankCounters& counters);

}  // namespace tutti::analyzer
