#include "viewer/model/memory_at.h"

#include <gtest/gtest.h>

#include "schema/rows.h"
#include "schema/testing/scratch.h"
#include "schema/writer.h"

namespace tutti::viewer {
namespace {

using schema::MemoryEventRow;

class MemoryAtTest : public ::testing::Test {
 protected:
  MemoryAtTest() {
    summary_.ranks.push_back({.rank = 0, .begin_ns = 0, .end_ns = 1'000, .clock_offset_ns = 100});
    summary_.traces.push_back(scratch_.Path("rank-00000.sqlite"));
    summary_.steps.push_back({.step = 0, .number = 0, .begin_ns = 150, .end_ns = 900});
  }

  template <typename... Rows>
  void Write(const Rows&... rows) {
    auto writer = schema::TraceWriter::Create(summary_.traces[0]);
    ASSERT_TRUE(writer.ok()) << writer.status().message();
    ASSERT_TRUE(((*writer)->Append(rows).ok() && ...));
    ASSERT_TRUE((*writer)->Finalize().ok());
  }

  static MemoryEventRow Change(int64_t id, int64_t time_ns, int64_t address, int64_t delta,
                               int64_t total) {
    return {.id = id,
            .tid = 7,
            .time_ns = time_ns,
            .device_type = "cuda",
            .device_id = 0,
            .address = address,
            .delta_bytes = delta,
            .allocated_bytes = total};
  }

  HeldMemory At(int64_t time_ns) {
    const RankTrace trace = LoadRankTrace(summary_, 0, &names_);
    const auto held = MemoryAt(summary_, 0, trace, names_, 0, time_ns);
    EXPECT_TRUE(held.ok()) << held.status().message();
    return held.ok() ? *held : HeldMemory();
  }

  schema::testing::Scratch scratch_;
  RunSummary summary_;
  NameTable names_;
};

using Uses = std::vector<std::pair<std::string, int64_t>>;

TEST_F(MemoryAtTest, TellsBlocksByWhereTheyWereAllocated) {
  Write(schema::StringRow{1, "autograd::engine::evaluate_function: MmBackward0"},
        schema::StringRow{2, "aten::linear"}, schema::StringRow{3, "aten::mm"},
        schema::ThreadRow{.tid = 7, .kernel_tid = 7},
        schema::CpuOpRow{.id = 1, .tid = 7, .name_id = 2, .begin_ns = 100, .end_ns = 200},
        schema::CpuOpRow{.id = 2, .tid = 7, .name_id = 3, .begin_ns = 110, .end_ns = 190},
        schema::CpuOpRow{.id = 3, .tid = 7, .name_id = 1, .begin_ns = 300, .end_ns = 400},
        schema::PhaseRow{
            .id = 1, .tid = 7, .phase = "optimizer", .begin_ns = 500, .end_ns = 600, .origin = "x"},
        Change(1, 10, 0x1000, 64, 164), Change(2, 120, 0x2000, 32, 196),
        Change(3, 310, 0x3000, 16, 212), Change(4, 410, 0x2000, -32, 180),
        Change(5, 510, 0x2000, 8, 188), Change(6, 700, 0x3000, -16, 172));
  const HeldMemory forward = At(230);
  EXPECT_EQ(forward.allocated_bytes, 196);
  EXPECT_EQ(
      forward.by_use,
      (Uses{{"before the trace", 100}, {"before the first step", 64}, {"rest of a step", 32}}));
  ASSERT_EQ(forward.blocks.size(), 2U);
  EXPECT_EQ(forward.blocks[1].by, "aten::linear");
  EXPECT_EQ(forward.blocks[1].allocated_ns, 220);
  EXPECT_EQ(forward.blocks[1].released_ns, 510);
  EXPECT_EQ(forward.blocks[0].released_ns, std::nullopt);

  // The address that was used again is another block.
  const HeldMemory later = At(650);
  EXPECT_EQ(later.by_use, (Uses{{"before the trace", 100},
                                {"before the first step", 64},
                                {"backward", 16},
                                {"optimizer", 8}}));
  EXPECT_EQ(At(0).allocated_bytes, 0);
}

TEST_F(MemoryAtTest, TakesASnapshotsWordForWhatABlockIs) {
  schema::MemoryBlockRow known{.id = 1, .segment_id = 1, .address = 0x1000, .bytes = 64};
  known.state = "active_allocated";
  known.category = "parameter";
  schema::MemoryBlockRow older = known;
  older.id = 2;
  older.address = 0x9000;
  older.category = std::nullopt;
  older.stack_id = 4;
  Write(schema::StringRow{4, "model.py:7 init\nmain.py:1 main"},
        schema::MemorySegmentRow{.id = 1, .device_id = 0, .address = 0x1000, .bytes = 4096}, known,
        older, Change(1, 10, 0x1000, 64, 128));
  const HeldMemory held = At(500);
  EXPECT_EQ(held.by_use, (Uses{{"before the trace", 64}, {"parameter", 64}}));
  EXPECT_EQ(held.blocks[1].by, "model.py:7 init");
}

TEST_F(MemoryAtTest, AFileThatIsGoneIsAnError) {
  summary_.traces[0] = scratch_.Path("none.sqlite");
  EXPECT_FALSE(MemoryAt(summary_, 0, RankTrace(), names_, 0, 0).ok());
}

}  // namespace
}  // namespace tutti::viewer
