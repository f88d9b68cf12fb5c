#include "collector/convert/range_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "collector/testing/spool_builder.h"

namespace tutti::collector::convert {
namespace {

using testing::ConvertTest;
using ::testing::ElementsAre;
using testing::Header;
using testing::kEpochNs;
using testing::kMainTid;

class RangeRecordsTest : public ConvertTest {
 protected:
  wire::RangeRecord Range(const char* message, uint64_t begin, uint64_t end,
                          const char* domain = "NCCL") {
    wire::RangeRecord record{};
    record.header = Header(wire::RecordKind::kRange, String(message));
    record.begin_ticks = begin;
    record.end_ticks = end;
    record.domain = String(domain);
    return record;
  }
  wire::RangeRecord Annotation(uint32_t category, const char* message, uint64_t begin, uint64_t end,
                               int64_t payload = 0) {
    wire::RangeRecord record = Range(message, begin, end, "tutti");
    record.category = category;
    record.payload = static_cast<uint64_t>(payload);
    record.payload_type = wire::PayloadType::kInt64;
    return record;
  }
  wire::MarkRecord Mark(uint32_t category, const char* message, uint64_t ticks, uint64_t payload) {
    wire::MarkRecord record{};
    record.header = Header(wire::RecordKind::kMark, *message == '\0' ? 0 : String(message));
    record.ticks = ticks;
    record.domain = String("tutti");
    record.category = category;
    record.payload = payload;
    return record;
  }
  wire::RangeStartRecord Start(uint64_t id, uint64_t ticks) {
    wire::RangeStartRecord record{};
    record.header = Header(wire::RecordKind::kRangeStart, String("transfer"));
    record.ticks = ticks;
    record.range_id = id;
    return record;
  }
  wire::RangeEndRecord End(uint64_t id, uint64_t ticks) {
    wire::RangeEndRecord record{};
    record.header = Header(wire::RecordKind::kRangeEnd);
    record.ticks = ticks;
    record.range_id = id;
    return record;
  }
  void Schema(uint32_t ring, uint64_t id, const char* text) {
    wire::PayloadSchemaRecord record{};
    record.header = Header(wire::RecordKind::kPayloadSchema, String("schema"));
    record.schema_id = id;
    record.domain = String("NCCL");
    record.text = String(text);
    spool().Add(ring, record);
  }
  template <typename Data>
  void Payload(uint64_t schema, uint64_t event_ticks, const Data& data) {
    std::array<std::byte, 2 * wire::kCellBytes> cells{};
    wire::PayloadRecord record{};
    record.header = Header(wire::RecordKind::kPayload);
    record.header.cells = 2;
    record.schema_id = schema;
    record.event_ticks = event_ticks;
    record.bytes = sizeof(data);
    record.total_bytes = sizeof(data);
    record.domain = String("NCCL");
    std::memcpy(cells.data(), &record, sizeof(record));
    static_assert(sizeof(record) + sizeof(data) <= sizeof(cells));
    std::memcpy(cells.data() + sizeof(record), &data, sizeof(data));
    spool().AddBytes(0, cells.data(), cells.size());
  }
};

TEST_F(RangeRecordsTest, PushPopRangesKeepEverything) {
  wire::RangeRecord record = Range("ncclAllReduce", 100, 300);
  record.category = 4;
  record.category_name = String("api");
  record.argb = 0xFF00FF00;
  record.depth = 2;
  record.payload = std::bit_cast<uint64_t>(0.5);
  record.payload_type = wire::PayloadType::kDouble;
  spool().Add(0, record);
  Convert();
  const auto rows = All<schema::RangeRow>();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].kind, "push_pop");
  EXPECT_EQ(Text(rows[0].domain_id), "NCCL");
  EXPECT_EQ(Text(rows[0].name_id), "ncclAllReduce");
  EXPECT_EQ(Text(rows[0].category_id), "api");
  EXPECT_EQ(rows[0].category, 4);
  EXPECT_EQ(rows[0].begin_ns, kEpochNs + 100);
  EXPECT_EQ(rows[0].end_ns, kEpochNs + 300);
  EXPECT_EQ(rows[0].depth, 2);
  EXPECT_EQ(rows[0].argb, 0xFF00FF00);
  EXPECT_EQ(rows[0].payload, schema::Value(0.5));
}

TEST_F(RangeRecordsTest, StartedRangesMayEndElsewhereOrNotAtAll) {
  spool().AddThread(1, 200);
  spool().Add(1, Start(1, 100));
  spool().Add(0, End(1, 250));
  spool().Add(1, Start(2, 300));
  spool().Add(0, End(77, 400));
  Convert();
  const auto rows = All<schema::RangeRow>("ORDER BY begin_ns");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].kind, "start_end");
  EXPECT_EQ(rows[0].tid, 200);
  EXPECT_EQ(rows[0].end_tid, kMainTid);
  EXPECT_EQ(rows[0].end_ns, kEpochNs + 250);
  EXPECT_EQ(rows[1].end_ns, std::nullopt);
  EXPECT_THAT(Findings(), ElementsAre("notice range_end_unmatched 1"));
}

// struct { int32 op; float64 gb; char name[4]; string text; nested { uint8 } }
TEST_F(RangeRecordsTest, PayloadsAreReadByTheirSchemaEvenIfItIsReadLater) {
  struct [[gnu::packed]] Data {
    int32_t op = 3;
    double gb = 1.5;
    char name[4] = {'r', 'i', 'n', 'g'};
    uint64_t text;
    uint8_t nested = 9;
  } data;
  data.text = String("comm");
  Payload(11, 100, data);
  spool().Add(0, Range("ncclAllReduce", 100, 300));
  spool().AddThread(1, 200);
  Schema(1, 11,
         "op\tschema:13\t0\t0\ngb\tfloat64\t4\t0\nname\tchar\t12\t4\ntext\tstring\t16\t0\n"
         "inner\tschema:12\t24\t0\nbeyond\tint64\t40\t0\n");
  Schema(1, 12, "value\tuint8\t0\t0\n");
  wire::PayloadSchemaRecord enumeration{};
  enumeration.header = Header(wire::RecordKind::kPayloadSchema, 0, wire::kPayloadEnum);
  enumeration.schema_id = 13;
  enumeration.domain = String("NCCL");
  enumeration.text = String("sum\t0\nmax\t3\n");
  spool().Add(1, enumeration);
  Convert();
  const auto rows = All<schema::RangeRow>();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].payload,
            schema::Value(std::string(
                R"({"op":"max","gb":1.5,"name":"ring","text":"comm","inner":{"value":9}})")));
}

TEST_F(RangeRecordsTest, PayloadWithoutSchemaIsKeptAsBytes) {
  Payload(5, 100, uint16_t{0xBEEF});
  spool().Add(0, Range("x", 100, 200));
  Payload(5, 999, uint8_t{1});  // its event was dropped
  Convert();
  EXPECT_EQ(All<schema::RangeRow>().at(0).payload,
            schema::Value(std::string(R"({"schema_id":5,"bytes":"efbe"})")));
  EXPECT_THAT(Findings(), ElementsAre("notice payload_unmatched 1"));
}

TEST_F(RangeRecordsTest, ASchemaThatContainsItselfEnds) {
  Payload(5, 100, uint64_t{1});
  spool().Add(0, Range("x", 100, 200));
  Schema(0, 5, "self\tschema:5\t0\t0\n");
  Convert();
  EXPECT_EQ(All<schema::RangeRow>().size(), 1U);
}

TEST_F(RangeRecordsTest, AnnotationsBecomeTheirOwnRowsAndNoRanges) {
  spool().Add(0, Annotation(3, "train", 110, 120, 5));
  spool().Add(0, Annotation(2, "forward", 130, 140));
  spool().Add(0, Mark(4, "", 150, 64));
  spool().Add(0, Mark(5, "", 151, 2048));
  spool().Add(0, Mark(4, "", 160, 32));
  spool().Add(0, Mark(6, "loss", 170, std::bit_cast<uint64_t>(0.25)));
  spool().Add(0, Annotation(1, "step", 100, 200, 41));
  Convert();
  const auto steps = All<schema::StepRow>();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].number, 41);
  EXPECT_EQ(steps[0].begin_ns, kEpochNs + 100);
  EXPECT_EQ(steps[0].origin, "annotate");
  const auto waits = All<schema::DataWaitRow>();
  EXPECT_EQ(waits.at(0).queue_depth, 5);
  EXPECT_EQ(Text(waits.at(0).loader_id), "train");
  EXPECT_EQ(All<schema::PhaseRow>().at(0).phase, "forward");
  const auto batches = All<schema::BatchRow>("ORDER BY time_ns");
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_EQ(batches[0].samples, 64);
  EXPECT_EQ(batches[0].tokens, 2048);
  EXPECT_EQ(batches[1].samples, 32);
  EXPECT_EQ(batches[1].tokens, std::nullopt);
  const auto samples = All<schema::CounterSampleRow>();
  ASSERT_EQ(samples.size(), 1U);
  EXPECT_EQ(samples[0].value, schema::Value(0.25));
  EXPECT_EQ(All<schema::CounterRow>().at(0).name, "loss");
  EXPECT_TRUE(All<schema::RangeRow>().empty());
}

TEST_F(RangeRecordsTest, TheTruthIsHandedOutAndNotInTheFile) {
  spool().Add(0, Mark(7, R"({"kind": "slow_loader"})", 100, 0));
  Convert();
  EXPECT_THAT(converter_->truth(), ElementsAre(R"({"kind": "slow_loader"})"));
  EXPECT_TRUE(All<schema::RangeRow>().empty());
  for (const auto& row : All<schema::StringRow>()) {
    EXPECT_EQ(row.text.find("slow_loader"), std::string::npos);
  }
}

TEST_F(RangeRecordsTest, AnnotationsInAnotherDomainAreRanges) {
  wire::RangeRecord record = Range("step", 100, 200, "other");
  record.category = 1;
  spool().Add(0, record);
  Convert();
  EXPECT_TRUE(All<schema::StepRow>().empty());
  EXPECT_EQ(All<schema::RangeRow>().size(), 1U);
}

}  // namespace
}  // namespace tutti::collector::convert
