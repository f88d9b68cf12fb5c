#include "analyzer/metrics/launch_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace tutti::analyzer {
namespace {

// ns       0    10   20   30   40
// calls    [A)[B)  [C)
// stream      [=A=======)[=B)      [=C)
// B waits 4..22 for A and 22..24 for nothing that is known
TEST(LaunchWaits, TellQueueingFromLatency) {
  const LaunchedPiece pieces[] = {{{0, 3}, {5, 22}}, {{3, 6}, {24, 28}}, {{14, 17}, {34, 38}}};
  const Interval stream[] = {{5, 22}, {24, 28}, {34, 38}};
  const std::vector<LaunchWait> waits = LaunchWaits(pieces, stream);
  EXPECT_EQ(waits[0].delay_ns, 2);
  EXPECT_EQ(waits[0].queue_ns, 0);
  EXPECT_EQ(waits[1].delay_ns, 18);
  EXPECT_EQ(waits[1].queue_ns, 16);
  EXPECT_EQ(waits[2].delay_ns, 17);
  EXPECT_EQ(waits[2].queue_ns, 11);
}

// Kineto's clocks of host and GPU differ by less than a microsecond (pytorch/kineto#1380).
TEST(LaunchWaits, AreNeverNegativeAndSayHowFarTheClocksAreApart) {
  const LaunchedPiece pieces[] = {{{1'000, 6'000}, {400, 900}},
                                  {{10'000, 16'000}, {12'000, 13'000}},
                                  {{20'000, 26'000}, {31'000, 32'000}}};
  const Interval stream[] = {{400, 900}, {12'000, 13'000}, {31'000, 32'000}};
  const std::vector<LaunchWait> waits = LaunchWaits(pieces, stream);
  EXPECT_EQ(waits[0].delay_ns, 0);
  EXPECT_EQ(waits[0].skew_ns, 600);
  EXPECT_EQ(waits[1].delay_ns, 0);
  EXPECT_EQ(waits[1].skew_ns, 0);
  EXPECT_EQ(waits[2].delay_ns, 5'000);
  EXPECT_EQ(waits[2].queue_ns, 0);
}

TEST(QueueLengths, GoUpAtTheCallAndDownAtTheBegin) {
  const LaunchedPiece pieces[] = {{{0, 2}, {10, 20}}, {{2, 4}, {20, 30}}, {{20, 22}, {40, 50}}};
  std::vector<std::pair<int64_t, int64_t>> seen;
  for (const QueueLength& entry : QueueLengths(pieces)) {
    seen.emplace_back(entry.time_ns, entry.length);
  }
  EXPECT_EQ(seen, (std::vector<std::pair<int64_t, int64_t>>{
                      {0, 1}, {2, 2}, {10, 1}, {20, 2}, {20, 1}, {40, 0}}));
  const QueueSummary summary = SummarizeQueue(QueueLengths(pieces));
  EXPECT_EQ(summary.max_length, 2);
  EXPECT_DOUBLE_EQ(summary.mean_length, (2 * 1 + 8 * 2 + 10 * 1 + 20 * 1) / 40.0);
  EXPECT_EQ(summary.p50_length, 1);
  EXPECT_EQ(summary.full_ns, 0);
}

TEST(QueueLengths, OfWorkThatSeemsToBeginBeforeItsCallAreNeverNegative) {
  const LaunchedPiece pieces[] = {{{10, 12}, {9, 20}}};
  for (const QueueLength& entry : QueueLengths(pieces)) EXPECT_GE(entry.length, 0);
  EXPECT_TRUE(QueueLengths({}).empty());
  EXPECT_EQ(SummarizeQueue({}).max_length, 0);
}

TEST(QueueLengths, AgreeWithCountingAtEveryMoment) {
  std::mt19937 random(5);
  for (int round = 0; round < 100; ++round) {
    std::vector<LaunchedPiece> pieces;
    for (int i = 0; i < 20; ++i) {
      const auto call = static_cast<int64_t>(random() % 100);
      const auto begin = call + static_cast<int64_t>(random() % 30);
      pieces.push_back({{call, call + 2}, {begin, begin + 5}});
    }
    const auto waiting = [&](int64_t t) {
      return std::count_if(pieces.begin(), pieces.end(), [&](const LaunchedPiece& piece) {
        return piece.call.begin_ns <= t && t < piece.work.begin_ns;
      });
    };
    const std::vector<QueueLength> lengths = QueueLengths(pieces);
    ASSERT_EQ(lengths.size(), pieces.size() * 2);
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (i + 1 < lengths.size() && lengths[i + 1].time_ns == lengths[i].time_ns) continue;
      EXPECT_EQ(lengths[i].length, waiting(lengths[i].time_ns));
    }
    const std::vector<QueueSpan> timeline = QueueTimeline(lengths, 7);
    EXPECT_LE(timeline.size(), 7u);
    for (const QueueSpan& span : timeline) {
      int64_t most = 0;
      for (int64_t t = span.time.begin_ns; t < span.time.end_ns; ++t) {
        most = std::max<int64_t>(most, waiting(t));
      }
      EXPECT_GE(span.max_length, most);  // may also hold a moment within a nanosecond
    }
    ASSERT_FALSE(timeline.empty());
    EXPECT_EQ(timeline.back().time.end_ns, lengths.back().time_ns);
  }
}

}  // namespace
}  // namespace tutti::analyzer
