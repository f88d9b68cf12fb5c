#include "exporter/csv/csv_export.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "exporter/testing/trace_fixture.h"
#include "schema/trace_file.h"

namespace tutti::exporter::csv {
namespace {

class CsvExportTest : public testing::TraceTest {};

std::string ContentOf(const std::string& path) {
  std::ifstream stream(path);
  std::stringstream content;
  content << stream.rdbuf();
  return content.str();
}

TEST_F(CsvExportTest, QuotesWhatWouldBreakALineAndDefusesFormulas) {
  EXPECT_EQ(Field(std::nullopt), "");
  EXPECT_EQ(Field(schema::Value(int64_t{-3})), "-3");
  EXPECT_EQ(Field(schema::Value(0.5)), "0.5");
  EXPECT_EQ(Field(schema::Value(std::string("a,\"b\"\nc"))), "\"a,\"\"b\"\"\nc\"");
  EXPECT_EQ(Field(schema::Value(std::string("=1+1"))), "'=1+1");
  EXPECT_EQ(Field(schema::Value(std::string("@x,y"))), "\"'@x,y\"");
}

TEST_F(CsvExportTest, WritesTablesThatHaveRows) {
  auto trace = schema::OpenRankFile(
      MakeTrace("INSERT INTO string VALUES (0, ''), (1, 'gemm');"
                "INSERT INTO kernel (id, device_id, stream_id, name_id, begin_ns, end_ns)"
                " VALUES (0, 1, 7, 1, 10, 30)"));
  ASSERT_TRUE(trace.ok()) << trace.status().message();
  const auto files = WriteCsvTables(*trace, scratch_.Path(""), false);
  ASSERT_TRUE(files.ok()) << files.status().message();
  const std::string kernel = ContentOf(scratch_.Path("kernel.csv"));
  EXPECT_TRUE(kernel.starts_with("id,device_id,context_id,stream_id,name_id,begin_ns,end_ns,"));
  EXPECT_NE(kernel.find("\n0,1,,7,1,10,30,,"), std::string::npos) << kernel;
  EXPECT_NE(ContentOf(scratch_.Path("v_kernel.csv")).find("\n0,1,7,gemm,10,30,20,"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(scratch_.Path("memcpy.csv")));
}

}  // namespace
}  // namespace tutti::exporter::csv
