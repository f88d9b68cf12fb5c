#include "analyzer/metrics/memory_holders.h"

#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

TEST(HoldersAfter, AddsUpWhatIsLiveByStack) {
  const BlockChange before[] = {{1, 100, 7}};
  const BlockChange changes[] = {{2, 50, 8}, {3, 60, 8}, {4, 10, 9}, {3, -60, 0}, {5, 5, 7}};
  const auto holders = HoldersAfter(changes, before);
  ASSERT_EQ(holders.size(), 3U);
  EXPECT_EQ(holders[0].stack, 7);
  EXPECT_EQ(holders[0].bytes, 105);
  EXPECT_EQ(holders[0].blocks, 2);
  EXPECT_EQ(holders[1].bytes, 50);
  EXPECT_EQ(holders[2].bytes, 10);
}

// segment 1  [allocated 10 | inactive 4 | pending 2]     segment 2  [inactive 30]
TEST(StateOf, TellsUnusedPartsFromUnusedSegments) {
  const SegmentPart parts[] = {
      {1, 10, true, false}, {1, 4, false, true}, {1, 2, false, false}, {2, 30, false, true}};
  const AllocatorState state = StateOf(parts);
  EXPECT_EQ(state.segments, 2);
  EXPECT_EQ(state.reserved_bytes, 46);
  EXPECT_EQ(state.allocated_bytes, 10);
  EXPECT_EQ(state.pending_bytes, 2);
  EXPECT_EQ(state.inactive_split_bytes, 4);
  EXPECT_EQ(state.inactive_split_blocks, 1);
  EXPECT_EQ(state.free_segment_bytes, 30);
  EXPECT_EQ(state.largest_free_bytes, 30);
}

}  // namespace
}  // namespace tutti::analyzer
