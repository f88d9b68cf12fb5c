#include <gtest/gtest.h>

#include "analyzer/testing/derived.h"
#include "analyzer/testing/trace_builder.h"

namespace tutti::analyzer {
namespace {

using testing::Derived;
using testing::RunFolder;
using testing::TraceBuilder;

// time       1     2     3     4     5
// block 1  +100              -100
// block 2        +50
// block 3              +30               +20 at its address
// before: 200 of which nothing is known
TEST(Memory, ThePeakIsHeldByWhatIsLiveThen) {
  TraceBuilder trace(0, 1, 1000);
  trace.Block(1, 11, 100, 300, "f (a.py:1)").Block(2, 12, 50, 350, "g (a.py:2)");
  trace.Block(3, 13, 30, 380, "f (a.py:1)").Block(4, 11, -100, 280).Block(5, 14, 20, 300, "h");
  RunFolder run;
  const Derived derived(run.Add(trace));
  EXPECT_EQ(derived.Query("SELECT peak_bytes, end_bytes, allocations, releases FROM memory_peak"),
            "380|300|4|1");
  EXPECT_EQ(derived.Query("SELECT ordinal, bytes, blocks, stack FROM memory_holder"),
            "0|130|2|f (a.py:1)\n1|50|1|g (a.py:2)\n2|200|0|");
}

TEST(Memory, WithoutStacksNobodyIsNamed) {
  TraceBuilder trace(0, 1, 1000);
  trace.Block(1, 11, 100, 100);
  RunFolder run;
  const Derived derived(run.Add(trace));
  EXPECT_EQ(derived.Query("SELECT count(*) FROM memory_holder"), "0");
}

TEST(Memory, ASnapshotTellsWhatIsUnused) {
  TraceBuilder trace(0, 1, 1000);
  trace.Block(1, 11, 100, 100, "f (a.py:1)");
  RunFolder run;
  run.Add(trace).Execute(
      "rank-00000.sqlite",
      "INSERT INTO memory_segment (id, device_id, address, bytes) VALUES (0, 0, 0, 60), (1, 0, 0, "
      "40);"
      "INSERT INTO memory_block (id, segment_id, address, bytes, state) VALUES"
      " (0, 0, 0, 30, 'active_allocated'), (1, 0, 30, 10, 'active_pending_free'),"
      " (2, 0, 40, 20, 'inactive'), (3, 1, 0, 40, 'inactive')");
  const Derived derived(run);
  EXPECT_EQ(derived.Query("SELECT segments, reserved_bytes, allocated_bytes, pending_bytes,"
                          " free_segment_bytes, inactive_split_bytes, largest_free_bytes"
                          " FROM memory_state"),
            "2|100|30|10|40|20|40");
}

}  // namespace
}  // namespace tutti::analyzer
