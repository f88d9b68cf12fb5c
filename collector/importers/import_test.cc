// The import as a whole, with what no format is needed for.
#include "collector/import.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "schema/testing/scratch.h"

namespace tutti::collector {
namespace {

namespace fs = std::filesystem;
using schema::testing::Scratch;

TEST(Import, LeavesNothingBehindWhereNothingCanBeRead) {
  const Scratch scratch;
  std::ofstream(scratch.Path("notes.txt")) << "no trace";
  const std::string run = scratch.Path("run");
  const auto report = Import({.inputs = {scratch.Path("notes.txt")}, .output = run});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), StatusCode::kBadData);
  EXPECT_NE(report.status().message().find("notes.txt: not in a format"), std::string::npos);
  EXPECT_FALSE(fs::exists(run));
}

TEST(Import, SaysThatAFileIsEmpty) {
  const Scratch scratch;
  std::ofstream(scratch.Path("trace.json")) << "";
  const auto report =
      Import({.inputs = {scratch.Path("trace.json")}, .output = scratch.Path("run")});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find("the file is empty"), std::string::npos);
}

TEST(Import, SaysWhichInputIsMissing) {
  const Scratch scratch;
  const auto report = Import({.inputs = {scratch.Path("none")}, .output = scratch.Path("run")});
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace tutti::collector
