#include <gtest/gtest.h>

#include "analyzer/testing/derived.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::RunFolder;
using testing::TraceBuilder;

// Two ranks, steps of 10 ms: an all-reduce in forward, one in backward.
void Build(RunFolder& run, int64_t bytes_in_forward, int64_t bytes_in_backward) {
  for (int64_t number : {0, 1}) {
    TraceBuilder rank(number, 2, 1000);
    for (int64_t step = 0; step < 12; ++step) {
      const int64_t t = step * 10'000;
      rank.Op("aten::mm", t, t + 3000).Backward("MmBackward0", t + 4000, t + 8000);
      rank.AllReduce(2 * step, t + 3000, t + 3000, t + 3500, bytes_in_forward);
      rank.AllReduce(2 * step + 1, t + 8000, t + 8000, t + 8500, bytes_in_backward);
      rank.Step(step, t, t + 10'000);
    }
    run.Add(rank);
  }
}

TEST(Parallelism, AGroupOfTheWholeWorldThatReducesActivationsIsTensorParallel) {
  RunFolder run;
  Build(run, 1 << 20, 1 << 20);
  EXPECT_EQ(Derived(run).Query("SELECT kind, reason FROM parallel_group"),
            "tensor|50 % of what it reduces is reduced in forward");
}

TEST(Parallelism, OneThatReducesLittleInForwardIsDataParallel) {
  RunFolder run;
  Build(run, 1 << 10, 1 << 20);
  EXPECT_EQ(Derived(run).Query("SELECT kind FROM parallel_group"), "data");
}

}  // namespace
}  // namespace tutti::analyzer
