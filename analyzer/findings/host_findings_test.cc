// Faults of ranks that compute on the CPU, each against the same job without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include "analyzer/findings/rule.h"
#include "analyzer/testing/derived.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::RunFolder;
using testing::TraceBuilder;

constexpr int64_t kSteps = 40;
constexpr int64_t kStepUs = 10'000;

// Steps of 10 ms on two ranks: 8 ms of compute, half of it backward, and an all-reduce of 1 ms.
struct Job {
  int64_t idle = 0;           // host time before compute, all ranks
  int64_t barriers = 0;       // of 1 ms each, before compute
  int64_t forward_calls = 0;  // of 0.2 ms each
  int64_t buckets = 1;        // that the all-reduce is cut into, of 0.5 ms each
  bool uneven = false;        // batches, in turn
  int64_t pause_every = 0;    // steps; 50 ms each
  bool one_pauses = false;    // rank 1 does, and rank 0 waits for it in the all-reduce
  int64_t one_late = 0;       // rank 1 in every step, and rank 0 waits for it
  int64_t leak_bytes = 0;     // a step

  void Build(RunFolder& run) const {
    for (int64_t r = 0; r < 2; ++r) {
      TraceBuilder rank(r, 2, 1000);
      int64_t t = 0;
      int64_t sequence = 0;
      for (int64_t step = 0; step < kSteps; ++step) t = AddStep(rank, r, step, t, sequence);
      run.Add(rank);
    }
  }

  int64_t AddStep(TraceBuilder& rank, int64_t r, int64_t step, int64_t begin,
                  int64_t& sequence) const {
    int64_t t = begin + idle;
    const bool pauses = pause_every > 0 && step % pause_every == pause_every - 1;
    const bool waits = pauses && one_pauses && r == 0;
    if (pauses && !waits) t += 5 * kStepUs;
    if (r == 1) t += one_late;
    for (int64_t i = 0; i < barriers; ++i, t += 1002) {
      rank.Collective("barrier", sequence++, t, t + 1, t + 1001, {});
    }
    // Uneven: one rank has twice the tokens of the other, in turn.
    const bool has_more = uneven && (step + r) % 2 == 0;
    const int64_t compute = has_more ? 8000 : uneven ? 4000 : 6000;
    rank.Op("aten::addmm", t, t + compute / 2).Batch(t, 8, has_more ? 2000 : uneven ? 1000 : 1500);
    t += compute / 2;
    for (int64_t i = 0; i < forward_calls; ++i, t += 202) {
      rank.Collective("all_reduce", sequence++, t, t + 1, t + 201, 256);
    }
    rank.Backward("AddmmBackward0", t, t + compute / 2 - 10);
    t += compute / 2;
    rank.Backward("torch::autograd::AccumulateGrad", t - 10, t);
    const int64_t arrival = t;
    const int64_t ready =
        t + (uneven && !has_more ? 4000 : 0) + (waits ? 5 * kStepUs : 0) + (r == 0 ? one_late : 0);
    int64_t done = uneven ? ready : arrival;
    for (int64_t i = 0; i < buckets; ++i) {
      const int64_t length = buckets == 1 ? 1000 : 500 + 10 * (i % 2);
      rank.Collective("all_reduce", sequence++, arrival, done, std::max(done, ready) + length,
                      1000 + 400 * (i % 2));
      done = std::max(done, ready) + length;
    }
    rank.Op("aten::add_", done + 2, done + 100);
    if (leak_bytes > 0) rank.Memory(done + 50, leak_bytes, (step + 1) * leak_bytes);
    rank.Step(step, begin, done + 110);
    return done + 110;
  }
};

std::string Find(const Job& job, const char* columns = "kind") {
  RunFolder run;
  job.Build(run);
  return Derived(run).Query(std::string("SELECT ") + columns + " FROM finding");
}

TEST(HostFindings, NoneInACleanJob) { EXPECT_EQ(Find(Job()), ""); }

TEST(HostFindings, BarriersInEveryStep) {
  EXPECT_EQ(Find({.barriers = 1}, "kind, cost_ns"), "barrier|1001000") << "from the call on";
  EXPECT_EQ(Find({.barriers = 3}, "kind, cost_ns"), "barrier|3005000") << "1 µs between them";
}

TEST(HostFindings, ManySmallCollectivesInForward) {
  EXPECT_EQ(Find({.forward_calls = 12}), "forward_collectives");
}

TEST(HostFindings, ManySmallBuckets) {
  EXPECT_EQ(Find({.buckets = 8}, "kind, advice LIKE 'bucket_cap_mb 1 -> 25%'"), "small_buckets|1");
}

TEST(HostFindings, BatchesOfDifferentSize) {
  EXPECT_EQ(Find({.uneven = true}, "kind, cost_ns"), "data_imbalance|2000000");
}

TEST(HostFindings, HostTimeOutsideOperators) {
  EXPECT_EQ(Find({.idle = 4000}, "kind, cost_ns BETWEEN 4000000 AND 4300000"), "host_bound|1");
  EXPECT_EQ(Find({.idle = 1000}), "");
}

TEST(HostFindings, StepsThatPauseNowAndThen) {
  EXPECT_EQ(Find({.pause_every = 12}, "kind, steps_seen, title LIKE '3 steps take up to 50.0 ms%'"),
            "pauses|3|1");
}

// Its lateness on average is that of the pauses, and told as such.
TEST(HostFindings, ARankThatPausesIsNoStraggler) {
  EXPECT_EQ(Find({.pause_every = 4, .one_pauses = true},
                 "kind, title LIKE '10 steps take up to% on rank 1, one in 3:%'"),
            "pauses|1");
  const Job late = {.pause_every = 4, .one_pauses = true, .one_late = 5000};
  EXPECT_EQ(Find(late), "straggler\npauses") << "and late in every step";
  const Job all_pause = {.pause_every = 4, .one_late = 5000};
  EXPECT_EQ(Find(all_pause), "pauses\nstraggler") << "that all pause is not why one is late";
}

TEST(HostFindings, MemoryThatGrowsCostsNothingYet) {
  EXPECT_EQ(Find({.leak_bytes = 100'000}, "kind, cost_ns, share"), "memory_leak|0|0");
  EXPECT_EQ(Find({.leak_bytes = 100}), "");
}

// Set TUTTI_UPDATE_GOLDEN=1 to write the page anew.
TEST(Findings, ThePageIsThatOfTheRules) {
  const std::string path = TUTTI_SOURCE_DIR "/docs/findings.md";
  if (std::getenv("TUTTI_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << FindingsDocument();
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), FindingsDocument());
}

TEST(Findings, EachKindIsListedOnce) {
  std::vector<std::string_view> names = AllFindingKindNames();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace tutti::analyzer
