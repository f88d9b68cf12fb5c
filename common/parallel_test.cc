#include "common/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tutti {
namespace {

TEST(ParallelFor, DoesEachPieceOnce) {
  std::vector<std::atomic<int>> done(1000);
  ParallelFor(
      done.size(), [&](size_t i) { ++done[i]; }, 4);
  for (const std::atomic<int>& times : done) EXPECT_EQ(times, 1);
}

TEST(ParallelFor, WorksOnSeveralThreadsAtOnce) {
  // Each piece waits for the other: one thread alone would never end.
  std::atomic<int> arrived{0};
  ParallelFor(
      2,
      [&](size_t) {
        ++arrived;
        while (arrived < 2) std::this_thread::yield();
      },
      2);
  EXPECT_EQ(arrived, 2);
}

TEST(ParallelFor, NeedsNoThreadForOnePiece) {
  std::thread::id worker;
  ParallelFor(
      1, [&](size_t) { worker = std::this_thread::get_id(); }, 8);
  EXPECT_EQ(worker, std::this_thread::get_id());
  ParallelFor(
      0, [&](size_t) { worker = {}; }, 8);
  EXPECT_NE(worker, std::thread::id());
}

}  // namespace
}  // namespace tutti
