// Schemas and payloads: layout rules, sizes left to the tool, strings, what is cut.
#include "tracer/sources/nvtx/payload.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "tracer/sources/nvtx/ranges.h"
#include "tracer/sources/nvtx/schema.h"
#include "tracer/testing/rank_fixture.h"

namespace tutti::tracer::nvtx {
namespace {

using testing::DrainedRecord;
using wire::RecordKind;

nvtxPayloadSchemaEntry_t Field(uint64_t type, const char* name, uint64_t flags = 0,
                               uint64_t detail = 0, uint64_t offset = 0) {
  return {flags, type, name, nullptr, detail, offset, nullptr, nullptr};
}

class PayloadTest : public testing::RankTest {
 protected:
  PayloadTest() {
    BecomeRank({1024, 1u << 18, {{1, 1024}}});
    domain_ = FindOrMakeDomain("payloads", nullptr);
    const Entry first(kCaptureAlways);  // so that the thread's own record is out of the way
  }

  uint64_t Register(const std::vector<nvtxPayloadSchemaEntry_t>& entries, uint64_t bytes = 0,
                    uint64_t pack_alignment = 0) {
    nvtxPayloadSchemaAttr_t schema{};
    schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME;
    schema.name = "schema";
    schema.entries = entries.data();
    schema.numEntries = entries.size();
    if (bytes != 0) {
      schema.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
      schema.payloadStaticSize = bytes;
    }
    if (pack_alignment != 0) {
      schema.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT;
      schema.packAlign = pack_alignment;
    }
    return RegisterSchema(*domain_, &schema, 0);
  }

  // Text of the schema that was registered last.
  std::string SchemaText() {
    const auto records = reader().DrainKind(RecordKind::kPayloadSchema);
    return String(records.back().As<wire::PayloadSchemaRecord>().text);
  }

  // Marks with one payload; returns its record.
  DrainedRecord MarkWith(uint64_t schema_id, const void* data, size_t bytes) {
    const nvtxPayloadData_t payload{schema_id, bytes, data};
    reader().Drain();
    Mark(*domain_, Event::Of(&payload, 1));
    std::vector<DrainedRecord> records = reader().Drain();
    EXPECT_EQ(records.size(), 2u);
    EXPECT_EQ(records[1].kind(), RecordKind::kMark);
    mark_name_ = String(records[1].header().name);
    EXPECT_EQ(records[0].As<wire::PayloadRecord>().event_ticks,
              records[1].As<wire::MarkRecord>().ticks);
    return records[0];
  }

  std::string String(uint32_t index) { return reader().String(index); }
  static const std::byte* DataOf(const DrainedRecord& record) {
    return record.bytes.data() + sizeof(wire::PayloadRecord);
  }

  Domain* domain_;
  std::string mark_name_;
};

TEST_F(PayloadTest, FieldsWithoutOffsetsAreAlignedNaturally) {
  Register({Field(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "a"), Field(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "b"),
            Field(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "c"), Field(NVTX_PAYLOAD_ENTRY_TYPE_CHAR, "d"),
            Field(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "e")});
  struct Expected {
    uint8_t a;
    int16_t b;
    double c;
    char d;
    size_t e;
  };
  EXPECT_EQ(SchemaText(),
            "a\tuint8\t0\t0\nb\tint16\t2\t0\nc\tfloat64\t8\t0\nd\tchar\t16\t0\n"
            "e\tuint64\t" +
                std::to_string(offsetof(Expected, e)) + "\t0\n");
}

TEST_F(PayloadTest, PackedFieldsAreCloser) {
  Register({Field(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "a"), Field(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "b")},
           0, 2);
  EXPECT_EQ(SchemaText(), "a\tuint8\t0\t0\nb\tint64\t2\t0\n");
}

TEST_F(PayloadTest, GivenOffsetsAreKept) {
  Register({Field(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "a", 0, 0, 12),
            Field(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "b")});
  EXPECT_EQ(SchemaText(), "a\tint32\t12\t0\nb\tint32\t16\t0\n");
}

TEST_F(PayloadTest, AfterAFieldOfUnknownSizeOffsetsAreUnknown) {
  Register(
      {Field(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "n"),
       Field(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "list", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, 0),
       Field(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "after")});
  EXPECT_EQ(SchemaText(), "n\tint32\t0\t0\nlist\tint32\t4\t0\nafter\tint32\t-1\t0\n");
}

TEST_F(PayloadTest, NestedSchemasHaveTheirIdAndSize) {
  const uint64_t inner = Register({Field(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "x")}, 8);
  Register({Field(inner, "in"), Field(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "after")});
  EXPECT_EQ(SchemaText(), "in\tschema:" + std::to_string(inner) + "\t0\t0\nafter\tint32\t8\t0\n");
}

TEST_F(PayloadTest, TypesWithoutANameKeepTheirNumber) {
  Register({Field(NVTX_PAYLOAD_ENTRY_TYPE_INT128, "wide"), Field(9999, "odd")});
  EXPECT_EQ(SchemaText(), "wide\tnvtx:33\t0\t0\nodd\tnvtx:9999\t16\t0\n");
}

TEST_F(PayloadTest, AnEmbeddedStringNamesTheEvent) {
  const uint64_t schema = Register(
      {Field(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "message", NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, 8)},
      8);
  EXPECT_EQ(SchemaText(), "message\tchar\t0\t8\n");
  MarkWith(schema, "hello\0\0", 8);
  EXPECT_EQ(mark_name_, "hello");
  MarkWith(schema, "12345678", 8);  // no zero in it
  EXPECT_EQ(mark_name_, "12345678");
}

TEST_F(PayloadTest, AStringFieldThatIsNotThereIsNotRead) {
  const uint64_t schema = Register(
      {Field(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "x"),
       Field(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text", NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE)});
  const int64_t only_x = 5;
  const DrainedRecord record = MarkWith(schema, &only_x, sizeof(only_x));
  EXPECT_EQ(record.As<wire::PayloadRecord>().bytes, 8u);
  EXPECT_EQ(mark_name_, "");
}

TEST_F(PayloadTest, ANullPointerFieldIsNoString) {
  const uint64_t schema = Register({Field(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "text")});
  const char* const none = nullptr;
  const DrainedRecord record = MarkWith(schema, &none, sizeof(none));
  uint64_t index = 1;
  std::memcpy(&index, DataOf(record), sizeof(index));
  EXPECT_EQ(index, 0u);
}

TEST_F(PayloadTest, SizesLeftToTheToolComeFromTheSchemaOrTheType) {
  const uint64_t schema = Register({Field(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "x")}, 8);
  const int64_t x = 5;
  EXPECT_EQ(MarkWith(schema, &x, SIZE_MAX).As<wire::PayloadRecord>().bytes, 8u);
  EXPECT_EQ(MarkWith(NVTX_PAYLOAD_ENTRY_TYPE_INT32, &x, SIZE_MAX).As<wire::PayloadRecord>().bytes,
            4u);
  EXPECT_EQ(
      MarkWith(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "four", SIZE_MAX).As<wire::PayloadRecord>().bytes,
      4u);
  const auto unknown = MarkWith(1234567, &x, SIZE_MAX).As<wire::PayloadRecord>();
  EXPECT_EQ(unknown.bytes, 0u);
  EXPECT_EQ(unknown.total_bytes, 0u);
}

TEST_F(PayloadTest, WhatDoesNotFitIsCutAndSaysSo) {
  std::vector<std::byte> data(5000);
  for (size_t i = 0; i < data.size(); ++i) data[i] = std::byte(i % 251);
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{24}, size_t{25}, size_t{984}, size_t{985}, size_t{5000}}) {
    const DrainedRecord record =
        MarkWith(NVTX_TYPE_PAYLOAD_SCHEMA_RAW, bytes != 0 ? data.data() : nullptr, bytes);
    const auto payload = record.As<wire::PayloadRecord>();
    EXPECT_EQ(payload.total_bytes, bytes);
    EXPECT_EQ(payload.bytes, std::min<size_t>(bytes, wire::kMaxPayloadBytes));
    EXPECT_EQ(std::memcmp(DataOf(record), data.data(), payload.bytes), 0) << bytes;
    for (const std::byte* rest = DataOf(record) + payload.bytes;
         rest != record.bytes.data() + record.bytes.size(); ++rest) {
      EXPECT_EQ(*rest, std::byte{0});
    }
  }
}

TEST_F(PayloadTest, SchemasOfACandidateAreWrittenWhenItIsPromoted) {
  Listen();
  Register({Field(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "early")}, 8);
  ASSERT_TRUE(Promote("test"));
  EmitSchemas();
  bool found = false;
  for (const auto& record : reader().DrainKind(RecordKind::kPayloadSchema)) {
    const auto schema = record.As<wire::PayloadSchemaRecord>();
    found = found || String(schema.text) == "early\tint64\t0\t0\n";
  }
  EXPECT_TRUE(found);
}

TEST_F(PayloadTest, BadRegistrationsHaveNoId) {
  EXPECT_EQ(RegisterSchema(*domain_, nullptr, 0), 0u);
  nvtxPayloadSchemaAttr_t empty{};
  EXPECT_EQ(RegisterSchema(*domain_, &empty, 0), 0u);
  EXPECT_EQ(RegisterEnum(*domain_, nullptr, 0), 0u);
}

}  // namespace
}  // namespace tutti::tracer::nvtx
