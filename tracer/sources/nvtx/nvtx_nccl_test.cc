// NCCL's own NVTX events, from the real library: they come without a GPU.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tracer/testing/child.h"
#include "tracer/testing/fake_collector.h"

namespace tutti::tracer::nvtx {
namespace {

using testing::DrainedRecord;
using wire::RecordKind;

class NcclTest : public ::testing::Test {
 protected:
  NcclTest()
      : collector_(testing::FakeCollector::Options{.shape = {4096, 1u << 20, {{4, 4096}}}}) {}

  void SetUp() override {
    if (std::string(TUTTI_NCCL_LIBRARY).empty()) GTEST_SKIP() << "no libnccl.so.2 was found";
    const testing::ChildResult result =
        testing::RunChild({TUTTI_NCCL_PROGRAM, TUTTI_NCCL_LIBRARY},
                          testing::TracedEnvironment(TUTTI_TRACER_LIBRARY, collector_.session()));
    ASSERT_EQ(result.exit_code, 0) << result.output;
    ASSERT_EQ(collector_.hellos().size(), 1u);
    records_ = collector_.segment().Drain();
  }

  std::string String(uint32_t index) { return collector_.segment().String(index); }

  testing::FakeCollector collector_;
  std::vector<DrainedRecord> records_;
};

TEST_F(NcclTest, ACollectiveMakesTheProcessARank) {
  EXPECT_STREQ(collector_.hellos()[0].reason, "ncclAllReduce");
  std::vector<std::string> names;
  for (const DrainedRecord& record : records_) {
    if (record.kind() != RecordKind::kRange) continue;
    const auto range = record.As<wire::RangeRecord>();
    EXPECT_EQ(String(range.domain), "NCCL");
    names.push_back(String(range.header.name));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"ncclAllReduce", "ncclGroupEnd"}));
}

// 1,024 floats: the schema that NCCL registers says where its payload tells the bytes.
TEST_F(NcclTest, ItsPayloadSchemaTellsTheMessageSize) {
  uint64_t schema_id = 0;
  for (const DrainedRecord& record : records_) {
    if (record.kind() == RecordKind::kPayloadSchema) {
      const auto schema = record.As<wire::PayloadSchemaRecord>();
      if (String(schema.text).find("Message size [bytes]\tuint64\t8\t0\n") != std::string::npos) {
        schema_id = schema.schema_id;
      }
    }
    if (record.kind() != RecordKind::kPayload) continue;
    const auto payload = record.As<wire::PayloadRecord>();
    ASSERT_NE(schema_id, 0u);
    EXPECT_EQ(payload.schema_id, schema_id);
    uint64_t bytes = 0;
    std::memcpy(&bytes, record.bytes.data() + sizeof(payload) + 8, sizeof(bytes));
    EXPECT_EQ(bytes, 4096u);
    return;
  }
  FAIL() << "no payload";
}

}  // namespace
}  // namespace tutti::tracer::nvtx
