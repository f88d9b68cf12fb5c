#include "collector/convert/memory_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collector/testing/spool_builder.h"

namespace tutti::collector::convert {
namespace {

using testing::ConvertTest;
using testing::Header;

class MemoryRecordsTest : public ConvertTest {
 protected:
  wire::MemoryRecord Memory(uint64_t ticks, uint64_t address, int64_t delta_bytes) {
    wire::MemoryRecord record{};
    record.header = Header(wire::RecordKind::kMemory);
    record.ticks = ticks;
    record.address = address;
    record.delta_bytes = delta_bytes;
    record.allocated_bytes = -1;
    record.reserved_bytes = -1;
    record.device_index = -1;
    return record;
  }
  std::vector<schema::MemoryEventRow> Rows() { return All<schema::MemoryEventRow>("ORDER BY id"); }
};

// A buffer is allocated on one thread and released, size unknown, on another whose ring
// is read first.
TEST_F(MemoryRecordsTest, ReleasesGetTheirSizeFromTheAllocationOfWhicheverThread) {
  spool().AddThread(1, 200);
  spool().Add(0, Memory(300, 0xA, 0));
  spool().Add(1, Memory(100, 0xA, 4096));
  spool().Add(1, Memory(200, 0xB, 100));
  Convert();
  const auto rows = Rows();
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].delta_bytes, 4096);
  EXPECT_EQ(rows[0].allocated_bytes, 4096);
  EXPECT_EQ(rows[1].allocated_bytes, 4196);
  EXPECT_EQ(rows[2].delta_bytes, -4096);
  EXPECT_EQ(rows[2].allocated_bytes, 100);
  EXPECT_EQ(rows[2].device_type, "cpu");
  EXPECT_EQ(rows[2].device_id, std::nullopt);
}

TEST_F(MemoryRecordsTest, WhatWasAllocatedBeforeCaptureHasNoSizeAndDoesNotCount) {
  spool().Add(0, Memory(100, 0xA, 0));
  spool().Add(0, Memory(200, 0xB, -64));
  Convert();
  const auto rows = Rows();
  EXPECT_EQ(rows.at(0).delta_bytes, std::nullopt);
  EXPECT_EQ(rows.at(0).allocated_bytes, 0);
  EXPECT_EQ(rows.at(1).delta_bytes, -64);
  EXPECT_EQ(rows.at(1).allocated_bytes, 0);
}

TEST_F(MemoryRecordsTest, AnAddressAllocatedTwiceLostItsRelease) {
  spool().Add(0, Memory(100, 0xA, 4096));
  spool().Add(0, Memory(200, 0xA, 100));
  Convert();
  EXPECT_EQ(Rows().at(1).allocated_bytes, 100);
}

TEST_F(MemoryRecordsTest, GpuTotalsAreTheAllocatorsOwn) {
  wire::MemoryRecord record = Memory(100, 0xA, 512);
  record.device_type = 1;
  record.device_index = 3;
  record.allocated_bytes = 1 << 20;
  record.reserved_bytes = 2 << 20;
  spool().Add(0, record);
  record.header.flags = wire::kMemoryOutOfMemory;
  record.ticks = 200;
  spool().Add(0, record);
  Convert();
  const auto rows = Rows();
  EXPECT_EQ(rows.at(0).device_type, "cuda");
  EXPECT_EQ(rows.at(0).device_id, 3);
  EXPECT_EQ(rows.at(0).allocated_bytes, 1 << 20);
  EXPECT_EQ(rows.at(0).reserved_bytes, 2 << 20);
  EXPECT_EQ(rows.at(0).is_oom, 0);
  EXPECT_EQ(rows.at(1).is_oom, 1);
}

TEST_F(MemoryRecordsTest, HostileSizesDoNotOverflow) {
  for (uint64_t address = 1; address < 5; ++address) {
    spool().Add(0, Memory(100 + address, address, INT64_MAX));
  }
  spool().Add(0, Memory(200, 9, INT64_MIN));
  Convert();
  EXPECT_EQ(Rows().size(), 5U);
}

}  // namespace
}  // namespace tutti::collector::convert
