// The whole way of NVTX events: a plain C program, NVTX's loader, the shared library, a
// segment. What the program does is in nvtx_program.c.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tracer/testing/child.h"
#include "tracer/testing/fake_collector.h"

namespace tutti::tracer::nvtx {
namespace {

using testing::DrainedRecord;
using testing::SegmentReader;
using wire::RecordKind;

constexpr wire::SegmentShape kShape = {1024, 1u << 18, {{4, 1024}}};

class NvtxProgram : public ::testing::Test {
 protected:
  NvtxProgram() : collector_(testing::FakeCollector::Options{.shape = kShape}) {}

  // Runs the program with |arguments| under the tracer.
  testing::ChildResult Run(std::vector<std::string> arguments, bool preload = true) {
    arguments.insert(arguments.begin(), TUTTI_NVTX_PROGRAM);
    testing::Environment environment =
        testing::TracedEnvironment(TUTTI_TRACER_LIBRARY, collector_.session());
    if (!preload) environment.push_back({"LD_PRELOAD", ""});
    return testing::RunChild(arguments, environment);
  }

  void RunAnnotated() {
    const testing::ChildResult result = Run({"annotate"});
    ASSERT_EQ(result.exit_code, 0) << "line of nvtx_program.c, modulo 256";
    ASSERT_EQ(result.output, "");
    records_ = reader().Drain();
  }

  SegmentReader& reader() { return collector_.segment(); }
  std::string String(uint32_t index) { return reader().String(index); }

  template <typename Record>
  std::vector<Record> All(RecordKind kind) {
    std::vector<Record> found;
    for (const DrainedRecord& record : records_) {
      if (record.kind() == kind) found.push_back(record.As<Record>());
    }
    return found;
  }

  testing::FakeCollector collector_;
  std::vector<DrainedRecord> records_;
};

TEST_F(NvtxProgram, ByItselfMakesNoRank) {
  const testing::ChildResult result = Run({});
  EXPECT_EQ(result.exit_code, 0) << "line of nvtx_program.c, modulo 256";
  EXPECT_EQ(result.output, "");
  EXPECT_TRUE(collector_.hellos().empty());
}

TEST_F(NvtxProgram, AnAnnotationMakesARank) {
  ASSERT_NO_FATAL_FAILURE(RunAnnotated());
  ASSERT_EQ(collector_.hellos().size(), 1u);
  EXPECT_STREQ(collector_.hellos()[0].reason, "annotate");
  const auto marks = All<wire::MarkRecord>(RecordKind::kMark);
  ASSERT_FALSE(marks.empty());
  EXPECT_EQ(String(marks[0].header.name), "go");
  EXPECT_EQ(String(marks[0].domain), "tutti");
}

// NVTX alone can load the library where somebody cleared LD_PRELOAD.
TEST_F(NvtxProgram, NeedsNoPreload) {
  EXPECT_EQ(Run({"annotate"}, false).exit_code, 0);
  EXPECT_EQ(collector_.hellos().size(), 1u);
}

TEST_F(NvtxProgram, RangesNestPerDomain) {
  ASSERT_NO_FATAL_FAILURE(RunAnnotated());
  struct Seen {
    std::string name, domain;
    int depth;
    bool operator==(const Seen&) const = default;
  };
  std::vector<Seen> seen;
  const auto ranges = All<wire::RangeRecord>(RecordKind::kRange);
  for (const wire::RangeRecord& range : ranges) {
    EXPECT_LT(range.begin_ticks, range.end_ticks);
    seen.push_back({String(range.header.name), String(range.domain), range.depth});
  }
  EXPECT_EQ(seen, (std::vector<Seen>{{"outer", "test domain", 1},
                                     {"outer", "test domain", 0},
                                     {"wide ä€😀", "", 1},
                                     {"crossing", "", 0},
                                     {"from a pointer", "test domain", 1},
                                     {"with payload", "test domain", 0}}));
  const wire::RangeRecord& outer = ranges[0];
  EXPECT_EQ(outer.category, 3u);
  EXPECT_EQ(String(outer.category_name), "third");
  EXPECT_EQ(outer.argb, 0xff112233u);
  EXPECT_EQ(outer.payload_type, wire::PayloadType::kInt64);
  EXPECT_EQ(std::bit_cast<int64_t>(outer.payload), -7);
}

TEST_F(NvtxProgram, APopTooManyIsCounted) {
  ASSERT_NO_FATAL_FAILURE(RunAnnotated());
  EXPECT_EQ(reader().Lost(wire::LossReason::kUnbalancedEnd), 1u);
  const auto losses = All<wire::LossRecord>(RecordKind::kLoss);
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].header.flags, static_cast<uint16_t>(wire::LossReason::kUnbalancedEnd));
}

TEST_F(NvtxProgram, MarksInEveryForm) {
  ASSERT_NO_FATAL_FAILURE(RunAnnotated());
  std::vector<std::string> names;
  for (const auto& mark : All<wire::MarkRecord>(RecordKind::kMark)) {
    names.push_back(String(mark.domain) + "/" + String(mark.header.name));
    if (names.back() == "test domain/registered") {
      EXPECT_EQ(mark.payload_type, wire::PayloadType::kDouble);
      EXPECT_EQ(std::bit_cast<double>(mark.payload), 0.5);
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"tutti/go", "test domain/registered", "/registered",
                                             "/mark a", "/mark w", "test domain/from a pointer"}));
}

TEST_F(NvtxProgram, StartsAndEndsAreJoinedById) {
  ASSERT_NO_FATAL_FAILURE(RunAnnotated());
  std::map<uint64_t, std::string> open;
  std::vector<std::string> ended;
  for (const DrainedRecord& record : records_) {
    if (record.kind() == RecordKind::kRangeStart) {
      const auto start = record.As<wire::RangeStartRecord>();
      EXPECT_TRUE(open.emplace(start.range_id, String(start.header.name)).second);
    } else if (record.kind() == RecordKind::kRangeEnd) {
      const uint64_t id = record.As<wire::RangeEndRecord>().range_id;
      ASSERT_TRUE(open.contains(id));
      ended.push_back(open[id]);
      open.erase(id);
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(ended, (std::vector<std::string>{"registered", "start a", "start w", "registered",
                                             "from a pointer"}));
}

TEST_F(NvtxProgram, SchemasAreTextThatNeedsNoHeader) {
  ASSERT_NO_FATAL_FAILURE(RunAnnotated());
  const auto schemas = All<wire::PayloadSchemaRecord>(RecordKind::kPayloadSchema);
  ASSERT_EQ(schemas.size(), 2u);
  EXPECT_EQ(String(schemas[0].header.name), "numbers");
  EXPECT_EQ(String(schemas[0].domain), "test domain");
  EXPECT_EQ(schemas[0].payload_bytes, 48u);
  EXPECT_EQ(String(schemas[0].text),
            "small\tuint8\t0\t0\n"
            "large\tuint64\t8\t0\n"
            "text\tstring\t16\t0\n"
            "handle\tstring\t24\t0\n"
            "values\tint32\t32\t3\n");
  EXPECT_EQ(schemas[1].header.flags, wire::kPayloadEnum);
  EXPECT_EQ(String(schemas[1].header.name), "colour");
  EXPECT_EQ(schemas[1].schema_id, (1u << 24) + 1);
  EXPECT_EQ(String(schemas[1].text), "red\t1\ngreen\t2\n");
}

TEST_F(NvtxProgram, PayloadsBelongToTheirEventsAndHoldNoPointers) {
  ASSERT_NO_FATAL_FAILURE(RunAnnotated());
  std::vector<uint64_t> events;
  for (const auto& record : All<wire::RangeRecord>(RecordKind::kRange)) {
    events.push_back(record.begin_ticks);
  }
  for (const auto& record : All<wire::MarkRecord>(RecordKind::kMark)) {
    events.push_back(record.ticks);
  }
  for (const auto& record : All<wire::RangeStartRecord>(RecordKind::kRangeStart)) {
    events.push_back(record.ticks);
  }
  for (const auto& record : All<wire::RangeEndRecord>(RecordKind::kRangeEnd)) {
    events.push_back(record.ticks);
  }
  size_t payloads = 0;
  for (const DrainedRecord& record : records_) {
    if (record.kind() != RecordKind::kPayload) continue;
    ++payloads;
    const auto payload = record.As<wire::PayloadRecord>();
    EXPECT_EQ(std::ranges::count(events, payload.event_ticks), 1);
    EXPECT_EQ(payload.bytes, 48u);
    EXPECT_EQ(payload.total_bytes, 48u);
    const std::byte* data = record.bytes.data() + sizeof(payload);
    uint64_t fields[4];
    std::memcpy(fields, data, sizeof(fields));
    EXPECT_EQ(fields[1], 1234567890123u);
    EXPECT_EQ(String(static_cast<uint32_t>(fields[2])), "from a pointer");
    EXPECT_EQ(String(static_cast<uint32_t>(fields[3])), "from a handle");
    int32_t values[3];
    std::memcpy(values, data + 32, sizeof(values));
    EXPECT_EQ(values[1], -2);
  }
  EXPECT_EQ(payloads, 6u);  // two pushes, a pop, a mark, a start and its end
}

TEST_F(NvtxProgram, NamesOfThreadsAreKeptFromBeforeThePromotion) {
  ASSERT_NO_FATAL_FAILURE(RunAnnotated());
  const auto names = All<wire::ThreadNameRecord>(RecordKind::kThreadName);
  ASSERT_EQ(names.size(), 1u);
  EXPECT_EQ(String(names[0].header.name), "the thread");
  EXPECT_EQ(names[0].tid, static_cast<uint32_t>(collector_.hellos()[0].pid));
}

TEST_F(NvtxProgram, WhatIsNotRecordedIsCounted) {
  ASSERT_NO_FATAL_FAILURE(RunAnnotated());
  std::map<std::string, uint64_t> ignored;
  for (const auto& note : All<wire::NoteRecord>(RecordKind::kNote)) {
    if (String(note.header.name) == "nvtx_ignored") ignored[String(note.detail)] += note.count;
  }
  EXPECT_EQ(ignored["resources (nvtxDomainResourceCreate) are not recorded"], 1u);
  EXPECT_EQ(ignored["names of CUDA runtime objects (nvtxNameCuda…) are not recorded"], 2u);
  const std::string sync = "user-defined synchronisation objects (nvtxDomainSyncUser…)";
  EXPECT_EQ(ignored[sync + " are not recorded"], 2u);
  EXPECT_EQ(ignored.size(), 3u);
}

}  // namespace
}  // namespace tutti::tracer::nvtx
