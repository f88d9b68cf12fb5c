// The import as a whole, with what no format is needed for.
#include "collector/import.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "collector/importers/import_cache.h"
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

TEST(ImportCache, KeyChangesWithTheFile) {
  const Scratch scratch;
  const std::string path = scratch.Path("a.json");
  std::ofstream(path) << "one";
  const std::string key = *importers::ImportCacheKey(path);
  EXPECT_EQ(*importers::ImportCacheKey(path), key);
  std::ofstream(path) << "other";
  EXPECT_NE(*importers::ImportCacheKey(path), key);
  EXPECT_EQ(importers::ImportCacheKey(scratch.Path("none")).status().code(), StatusCode::kNotFound);
}

TEST(ImportCache, ForgetsWhatNobodyUsedForAWeek) {
  const Scratch scratch;
  fs::create_directory(scratch.Path("old"));
  fs::create_directory(scratch.Path("new"));
  fs::last_write_time(scratch.Path("old"),
                      fs::file_time_type::clock::now() - std::chrono::hours(8 * 24));
  importers::RemoveOldImports(scratch.Path("."));
  EXPECT_FALSE(fs::exists(scratch.Path("old")));
  EXPECT_TRUE(fs::exists(scratch.Path("new")));
}

}  // namespace
}  // namespace tutti::collector
