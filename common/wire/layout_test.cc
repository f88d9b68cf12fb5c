#include "common/wire/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tutti::wire {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// A segment of |plan| in page-aligned, zeroed memory.
std::unique_ptr<std::byte, Free> MakeSegment(const SegmentPlan& plan) {
  void* memory = std::aligned_alloc(kPageBytes, plan.segment_bytes);
  std::fill_n(static_cast<char*>(memory), plan.segment_bytes, '\0');
  InitializeSegment(memory, plan, ClockKind::kMonotonicRaw, 7);
  return std::unique_ptr<std::byte, Free>(static_cast<std::byte*>(memory));
}

SegmentHeader& HeaderOf(std::byte* base) { return *reinterpret_cast<SegmentHeader*>(base); }

RingHeader& RingOf(std::byte* base, const SegmentLayout& layout, uint32_t index) {
  return *reinterpret_cast<RingHeader*>(base + layout.ring_headers_offset +
                                        index * kRingHeaderBytes);
}

const SegmentShape kSmall = {64, 4096, {{3, 32}, {2, 128}}};

TEST(PlanSegment, FillsMostOfWhatItMayUseAndNeverMore) {
  for (uint64_t bytes = kMinSegmentBytes; bytes <= (1u << 30); bytes += bytes / 3) {
    const auto plan = PlanSegment(bytes);
    ASSERT_TRUE(plan.has_value()) << bytes;
    EXPECT_LE(plan->segment_bytes, bytes);
    EXPECT_GE(plan->segment_bytes, bytes / 3);
    EXPECT_LE(plan->ring_count, kMaxRings);
    EXPECT_GE(plan->shape.classes[0].count, 100u);
  }
}

TEST(PlanSegment, RefusesWhatIsTooSmallOrTooLarge) {
  EXPECT_FALSE(PlanSegment(0).has_value());
  EXPECT_FALSE(PlanSegment(kMinSegmentBytes - 1).has_value());
  EXPECT_FALSE(PlanSegment(kMaxSegmentBytes + 1).has_value());
}

TEST(PlanSegment, SixtyFourMebibytesHoldAHundredThreadsAndAMillionCells) {
  constexpr SegmentPlan plan = PlanSegment(64u << 20).value();
  static_assert(plan.ring_count >= 148);
  static_assert(plan.shape.string_capacity == 32768);
  static_assert(plan.segment_bytes - plan.cells_offset >= (48u << 20));
}

TEST(InitializeSegment, MakesALayoutThatTheTracerAccepts) {
  const SegmentPlan plan = PlanShape(kSmall);
  const auto segment = MakeSegment(plan);
  const SegmentLayout layout = ReadLayout(HeaderOf(segment.get()));
  ASSERT_EQ(LayoutProblem(layout, plan.segment_bytes), nullptr);
  EXPECT_EQ(HeaderOf(segment.get()).capture_mask.load(), 7u);
  uint64_t end = layout.ring_headers_offset + layout.ring_count * kRingHeaderBytes;
  uint32_t size_class = 0;
  std::vector<uint32_t> capacities;
  for (uint32_t i = 0; i < layout.ring_count; ++i) {
    const RingHeader& ring = RingOf(segment.get(), layout, i);
    const RingLayout ring_layout = {ring.cells_offset, ring.capacity_cells, ring.size_class};
    EXPECT_EQ(RingProblem(ring_layout, plan.segment_bytes, &end, &size_class), nullptr);
    EXPECT_EQ(ring.owner.load(), RingOwner::kFree);
    capacities.push_back(ring.capacity_cells);
  }
  EXPECT_EQ(capacities, (std::vector<uint32_t>{32, 32, 32, 128, 128}));
  EXPECT_LE(end, plan.segment_bytes);
}

// Each lie about the layout must be found: the tracer writes where the layout says.
TEST(LayoutProblem, FindsEachWrongField) {
  const SegmentPlan plan = PlanShape(kSmall);
  const auto segment = MakeSegment(plan);
  const SegmentLayout good = ReadLayout(HeaderOf(segment.get()));
  const auto expect_bad = [&](auto change) {
    SegmentLayout layout = good;
    change(layout);
    EXPECT_NE(LayoutProblem(layout, plan.segment_bytes), nullptr);
  };
  expect_bad([](SegmentLayout& l) { l.magic ^= 1; });
  expect_bad([](SegmentLayout& l) { l.version += 1; });
  expect_bad([](SegmentLayout& l) { l.clock_kind = static_cast<ClockKind>(9); });
  expect_bad([](SegmentLayout& l) { l.segment_bytes += kPageBytes; });
  expect_bad([](SegmentLayout& l) { l.ring_count = 0; });
  expect_bad([](SegmentLayout& l) { l.ring_count = kMaxRings + 1; });
  expect_bad([](SegmentLayout& l) { l.ring_count = 4000; });
  expect_bad([](SegmentLayout& l) { l.string_capacity = 0; });
  expect_bad([](SegmentLayout& l) { l.string_capacity = kMaxStringCapacity + 1; });
  expect_bad([](SegmentLayout& l) { l.string_bucket_count = 129; });
  expect_bad([](SegmentLayout& l) { l.string_bucket_count = 64; });
  expect_bad([](SegmentLayout& l) { l.string_entries_offset = 0; });
  expect_bad([](SegmentLayout& l) { l.string_entries_offset += 8; });
  expect_bad([](SegmentLayout& l) { l.string_buckets_offset = l.string_entries_offset; });
  expect_bad([](SegmentLayout& l) { l.string_arena_offset = UINT64_MAX - 63; });
  expect_bad([](SegmentLayout& l) { l.string_arena_bytes = UINT64_MAX; });
  expect_bad([](SegmentLayout& l) { l.ring_headers_offset = l.segment_bytes; });
  expect_bad([](SegmentLayout& l) { l.ring_headers_offset += 64; });
}

TEST(RingProblem, FindsRingsThatOverlapLeaveTheSegmentOrAreOutOfOrder) {
  const auto problem = [](RingLayout ring) {
    uint64_t end = 4096;
    uint32_t size_class = 1;
    return RingProblem(ring, 16384, &end, &size_class);
  };
  EXPECT_EQ(problem({4096, 64, 1}), nullptr);
  EXPECT_NE(problem({4032, 64, 1}), nullptr);   // over what is before it
  EXPECT_NE(problem({4096, 256, 1}), nullptr);  // beyond the end
  EXPECT_NE(problem({4097, 64, 1}), nullptr);   // not on a cell
  EXPECT_NE(problem({4096, 63, 1}), nullptr);   // no power of two
  EXPECT_NE(problem({4096, 16, 1}), nullptr);   // too small for a record
  EXPECT_NE(problem({4096, 64, 0}), nullptr);   // smaller class after a larger
  EXPECT_NE(problem({4096, 64, 4}), nullptr);   // no such class
  EXPECT_NE(problem({UINT64_MAX - 63, 64, 1}), nullptr);
}

}  // namespace
}  // namespace tutti::wire
