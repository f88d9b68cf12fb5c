#include "analyzer/history/store.h"

#include <gtest/gtest.h>

#include <fstream>

#include "analyzer/compare/testing/launches.h"
#include "schema/database.h"
#include "schema/testing/scratch.h"

namespace tutti::analyzer::history {
namespace {

using compare::testing::MakeLaunch;
using schema::testing::Scratch;

TEST(ToStored, KeepsEveryMetricAndWhatTheLaunchRanOn) {
  compare::Launch launch = MakeLaunch("runs/a", {}, 1);
  launch.control_ns = 5e6;
  const auto stored = ToStored(launch, "abc123", 7);
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(stored->series, "ddp_mlp, 2 ranks, cpu");
  EXPECT_EQ(stored->epoch, "EPYC; torch 2.11.0");
  EXPECT_EQ(stored->begin_ns, *launch.begin_ns);
  EXPECT_NEAR(stored->values.at("step_time"), 100e6, 1e6);
  EXPECT_NEAR(stored->values.at("exposed_comm_transfer"), 10e6, 1);
  EXPECT_EQ(stored->values.at("control"), 5e6);
  launch.begin_ns.reset();
  EXPECT_EQ(ToStored(launch, "", 7)->begin_ns, 7);
  launch.steps.clear();
  EXPECT_EQ(ToStored(launch, "", 7).status().code(), StatusCode::kBadData);
}

TEST(History, GivesBackWhatWasAddedByTime) {
  const Scratch scratch;
  const std::string path = scratch.Path("history.sqlite");
  EXPECT_EQ(ReadHistory(path).status().code(), StatusCode::kNotFound);
  const StoredLaunch late = *ToStored(MakeLaunch("late", {}, 9), "v2", 0);
  const StoredLaunch early = *ToStored(MakeLaunch("early", {}, 2), "v1", 0);
  EXPECT_TRUE(*AddLaunch(path, late));
  EXPECT_TRUE(*AddLaunch(path, early));
  EXPECT_FALSE(*AddLaunch(path, early));  // it is there already
  const auto history = ReadHistory(path);
  ASSERT_TRUE(history.ok()) << history.status().message();
  ASSERT_EQ(history->size(), 2U);
  EXPECT_EQ((*history)[0].name, "early");
  EXPECT_EQ((*history)[1].label, "v2");
  EXPECT_EQ((*history)[0].values, early.values);
  EXPECT_EQ((*history)[0].epoch, early.epoch);
}

TEST(History, TakesNoOtherFileForOne) {
  const Scratch scratch;
  const StoredLaunch launch = *ToStored(MakeLaunch("a", {}, 1), "", 0);
  const std::string text = scratch.Path("text");
  std::ofstream(text) << "no database at all, but long enough to look like something";
  EXPECT_EQ(ReadHistory(text).status().code(), StatusCode::kBadData);
  EXPECT_EQ(AddLaunch(text, launch).status().code(), StatusCode::kBadData);
  const std::string other = scratch.Path("other");
  ASSERT_TRUE(schema::Database::Create(other)->Execute("CREATE TABLE t (x)").ok());
  EXPECT_EQ(ReadHistory(other).status().code(), StatusCode::kBadData);
  EXPECT_EQ(AddLaunch(other, launch).status().code(), StatusCode::kBadData);
  const std::string newer = scratch.Path("newer");
  ASSERT_TRUE(*AddLaunch(newer, launch));
  ASSERT_TRUE(schema::Database::OpenTrusted(newer)->Execute("PRAGMA user_version = 9").ok());
  EXPECT_NE(ReadHistory(newer).status().message().find("version 9"), std::string::npos);
}

}  // namespace
}  // namespace tutti::analyzer::history
