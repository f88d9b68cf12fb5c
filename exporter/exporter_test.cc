#include "exporter/exporter.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "exporter/testing/trace_fixture.h"

namespace tutti::exporter {
namespace {

class ExporterTest : public testing::TraceTest {};

TEST_F(ExporterTest, WritesAFileForARankAndAFolderForARun) {
  MakeTrace("", "rank-00000.sqlite");
  const std::string one = MakeTrace("", "rank-00001.sqlite");
  const auto file = Export({.run = one, .format = "chrome", .output = scratch_.Path("one.json")});
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->files.size(), 1u);
  struct stat info {};
  ASSERT_EQ(stat(scratch_.Path("one.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  const auto folder =
      Export({.run = scratch_.Path(""), .format = "chrome", .output = scratch_.Path("out")});
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  EXPECT_TRUE(std::filesystem::exists(scratch_.Path("out/rank-00000.json")));
  EXPECT_TRUE(std::filesystem::exists(scratch_.Path("out/rank-00001.json")));
}

TEST_F(ExporterTest, OverwritesNothingUnlessTold) {
  const std::string trace = MakeTrace("");
  std::ofstream(scratch_.Path("mine.json")) << "precious";
  ExportOptions options{.run = trace, .format = "chrome", .output = scratch_.Path("mine.json")};
  const auto refused = Export(options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.status().message().find("exists"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(scratch_.Path("mine.json")), 8u);
  options.force = true;
  EXPECT_TRUE(Export(options).ok());
}

TEST_F(ExporterTest, LeavesNothingOfAFailedExport) {
  std::ofstream(scratch_.Path("text.sqlite")) << "no trace";
  const auto report = Export(
      {.run = scratch_.Path("text.sqlite"), .format = "chrome", .output = scratch_.Path("x.json")});
  EXPECT_FALSE(report.ok());
  EXPECT_FALSE(std::filesystem::exists(scratch_.Path("x.json")));
  EXPECT_FALSE(std::filesystem::exists(scratch_.Path("x.json.part")));
}

TEST_F(ExporterTest, NamesAnUnknownFormat) {
  const auto report = Export({.run = "x", .format = "svg", .output = "y"});
  EXPECT_EQ(report.status().code(), StatusCode::kUsage);
}

}  // namespace
}  // namespace tutti::exporter
