// The union of 10 million intervals of 64 threads, each thread's in order: what every
// analysis of time begins with. Against std::sort over all of them and one sweep. Both begin
// with the intervals in memory, run by run, and end with the same set.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <vector>

#include "common/interval.h"

namespace tutti {
namespace {

constexpr size_t kRuns = 64;
constexpr size_t kIntervalsPerRun = 10'000'000 / kRuns;

// Gaps are long enough that most of the time is covered by few threads at once: unions that
// collapse to one interval would be cheap for everybody.
std::vector<std::vector<Interval>> MakeRuns() {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<int64_t> length(100, 2'000);
  std::uniform_int_distribution<int64_t> gap(0, 400'000);
  std::vector<std::vector<Interval>> runs(kRuns);
  for (std::vector<Interval>& run : runs) {
    int64_t now_ns = 0;
    for (size_t i = 0; i < kIntervalsPerRun; ++i) {
      const int64_t begin_ns = now_ns + gap(random);
      now_ns = begin_ns + length(random);
      run.push_back({begin_ns, now_ns});
    }
  }
  return runs;
}

IntervalSet SortAndSweep(const std::vector<std::vector<Interval>>& runs) {
  std::vector<Interval> all;
  all.reserve(kRuns * kIntervalsPerRun);
  for (const auto& run : runs) all.insert(all.end(), run.begin(), run.end());
  std::sort(all.begin(), all.end(),
            [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
  IntervalSet set;
  for (const Interval& interval : all) {
    if (!set.empty() && set.back().end_ns >= interval.begin_ns) {
      set.back().end_ns = std::max(set.back().end_ns, interval.end_ns);
    } else {
      set.push_back(interval);
    }
  }
  return set;
}

IntervalSet MergeAndUnion(const std::vector<std::vector<Interval>>& runs) {
  return UnionOfRuns({runs.begin(), runs.end()});
}

using Algorithm = IntervalSet (*)(const std::vector<std::vector<Interval>>&);

void Run(benchmark::State& state, Algorithm algorithm,
         const std::vector<std::vector<Interval>>* runs) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(algorithm(*runs));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kRuns * kIntervalsPerRun));
}

int Main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const auto runs = MakeRuns();
  const IntervalSet expected = SortAndSweep(runs);
  if (MergeAndUnion(runs) != expected) {
    std::fprintf(stderr, "interval_benchmark: the two unions differ\n");
    return 1;
  }
  for (const auto& [name, algorithm] :
       {std::pair("sort_sweep", &SortAndSweep), std::pair("merge_union", &MergeAndUnion)}) {
    benchmark::RegisterBenchmark(name, Run, algorithm, &runs)->Unit(benchmark::kMillisecond);
  }
  benchmark::AddCustomContext("intervals_in_union", std::to_string(expected.size()));
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace tutti

int main(int argc, char** argv) { return tutti::Main(argc, argv); }
