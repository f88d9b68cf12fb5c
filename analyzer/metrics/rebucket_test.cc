#include "analyzer/metrics/rebucket.h"

#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

using Transfers = std::vector<int64_t>;

// ns      0    100  200  300  400          two buckets of 100 bytes, 10 ns and 1 ns a byte
// ready          a    .    b
// sent           [a====)   [b====)
constexpr SentBucket kSent[] = {{100, 100, 110}, {300, 100, 110}};
constexpr TransferCost kCost{10, 1};

TEST(Rebucket, TheSameSizesTakeTheSame) {
  EXPECT_EQ(TransfersInBuckets(kSent, 0, kCost, {100, 100}), (Transfers{110, 110}));
}

TEST(Rebucket, TheCostIsScaledToWhatSendingTook) {
  constexpr SentBucket kSlow[] = {{100, 100, 220}, {400, 100, 220}};
  EXPECT_EQ(TransfersInBuckets(kSlow, 0, kCost, {100, 100}), (Transfers{220, 220}));
}

// One of 200 bytes begins when all is ready.
TEST(Rebucket, OneLargeBucketWaitsForTheLastGradient) {
  EXPECT_EQ(TransfersInBuckets(kSent, 0, kCost, {1000, 1000}), (Transfers{0, 210}));
}

// Of 50 bytes: ready at 50, 100, 200 and 300, each takes 60.
TEST(Rebucket, SmallOnesOverlapUntilTheLast) {
  EXPECT_EQ(TransfersInBuckets(kSent, 0, kCost, {50, 50}), (Transfers{70, 60}));
}

// ready at 0, 10, 20, 30: the link is what holds them up.
TEST(Rebucket, ManySmallOnesWaitForOneAnother) {
  constexpr SentBucket kOne[] = {{30, 300, 310}};
  EXPECT_EQ(TransfersInBuckets(kOne, 0, kCost, {100, 100}), (Transfers{10 + 3 * 110 - 30}));
}

// As above ready at 50, 100, 200 and 300, later by 7 for each that is more than was sent: by half
// of one, one, one and a half, two. The last one ends at 314 + 60.
TEST(Rebucket, EachMoreTakesTheHost) {
  constexpr TransferCost kOfHost{10, 1, 7};
  EXPECT_EQ(TransfersInBuckets(kSent, 0, kOfHost, {50, 50}), (Transfers{74, 74}));
  EXPECT_EQ(TransfersInBuckets(kSent, 0, kOfHost, {100, 100}), (Transfers{110, 110}));
  // One instead of two: the host is done with backward 7 ns sooner.
  EXPECT_EQ(TransfersInBuckets(kSent, 0, kOfHost, {1000, 1000}), (Transfers{0, 203}));
}

TEST(Rebucket, GradientsThatAreReadyTogetherAreSentOneAfterAnother) {
  constexpr SentBucket kTogether[] = {{0, 10, 20}, {0, 10, 20}, {0, 10, 20}};
  EXPECT_EQ(TransfersInBuckets(kTogether, 0, kCost, {30, 30}), (Transfers{0, 0, 40}));
}

// Of parameters of 100 bytes none is smaller: two of 50 bytes are one.
TEST(Rebucket, ParametersAreNotCut) {
  EXPECT_EQ(TransfersInBuckets(kSent, 0, kCost, {50, 50}, 100), (Transfers{110, 110}));
  EXPECT_EQ(TransfersInBuckets(kSent, 0, kCost, {150, 150}, 100), (Transfers{0, 210}));
}

TEST(Rebucket, TheFirstIsSmallAsOfDistributedDataParallel) {
  EXPECT_EQ(BucketSizesOf(25).bytes, 25 << 20);
  EXPECT_EQ(BucketSizesOf(25).first_bytes, 1 << 20);
  EXPECT_EQ(BucketSizesOf(0.25).first_bytes, 1 << 18);
}

}  // namespace
}  // namespace tutti::analyzer
