#include "collector/importers/execution_trace/execution_trace_importer.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti::collector::importers {
namespace {

using std::string_literals::operator""s;

TEST(IsChakraProtobuf, KnowsItsMetadata) {
  EXPECT_TRUE(
      IsChakraProtobuf("\x07\x0a\x05"
                       "0.0.4J\x08"));
  EXPECT_TRUE(
      IsChakraProtobuf("\x5e\x12\x10\x0a\x06schema\xea\x01\x05"
                       "1.0.1"));
  EXPECT_FALSE(IsChakraProtobuf(""));
  EXPECT_FALSE(IsChakraProtobuf("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"));
  EXPECT_FALSE(IsChakraProtobuf("{\"schema\": \"1.0\"}"));
  EXPECT_FALSE(IsChakraProtobuf("SQLite format 3\0"s));
  EXPECT_FALSE(IsChakraProtobuf("\x80\x04\x95\x1f"));
}

TEST(IsExecutionTraceJson, TellsItFromAProfile) {
  EXPECT_TRUE(IsExecutionTraceJson(R"({"schema": "1.1.1-chakra.0.0.4", "nodes": [{"ctrl_deps")"));
  EXPECT_TRUE(IsExecutionTraceJson(" {\"schema\": \"1.0.1\", \"nodes\": [{\"rf_id\": 0"));
  EXPECT_FALSE(IsExecutionTraceJson(R"({"schemaVersion": 1, "traceEvents": []})"));
  EXPECT_FALSE(IsExecutionTraceJson(""));
}

}  // namespace
}  // namespace tutti::collector::importers
