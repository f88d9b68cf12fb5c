#include "viewer/model/parallelism.h"

#include <gtest/gtest.h>

#include "schema/database.h"
#include "schema/sql.h"
#include "schema/testing/scratch.h"

namespace tutti::viewer {
namespace {

using Groups = std::vector<std::vector<int64_t>>;

TEST(MergeGroups, JoinsWhatSharesARank) {
  EXPECT_EQ(MergeGroups({{3, 1}, {1, 3}, {0, 2}}), (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(MergeGroups({{2, 3}, {0, 1}, {1, 2}}), (Groups{{0, 1, 2, 3}})) << "a chain";
  EXPECT_EQ(MergeGroups({}), Groups());
}

// Four ranks: 0 → 2 and 1 → 3 are pipelines, {0, 1} and {2, 3} share data; all are one world.
TEST(ReadParallelism, TellsGroupsByKindAndHowFullPipelinesAre) {
  const schema::testing::Scratch scratch;
  RunSummary summary;
  summary.analysis = scratch.Path("run.sqlite");
  {
    auto database = schema::Database::Create(summary.analysis);
    ASSERT_TRUE(database.ok());
    ASSERT_TRUE(database->Execute(std::string(schema::DerivedSql())).ok());
    const Status status = database->Execute(
        "PRAGMA foreign_keys = OFF;"
        "INSERT INTO run_communicator_member (communicator_id, rank, local_communicator_id) VALUES"
        " (1,0,1), (1,2,1), (2,1,2), (2,3,2), (3,0,3), (3,1,3), (4,2,4), (4,3,4),"
        " (5,0,5), (5,1,5), (5,2,5), (5,3,5);"
        "INSERT INTO parallel_group VALUES (1,'pipeline',''), (2,'pipeline',''), (3,'data',''),"
        " (4,'data',''), (5,'world','');"
        "INSERT INTO pipeline_step VALUES (0,2,1,2,4,100,60,30), (1,2,1,2,4,100,60,10);");
    ASSERT_TRUE(status.ok()) << status.message();
  }
  const Result<Parallelism> read = ReadParallelism(summary);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->kinds.size(), 2U);
  EXPECT_EQ(read->kinds[0].name, "pipeline");
  EXPECT_EQ(read->kinds[0].groups, (Groups{{0, 2}, {1, 3}}));
  EXPECT_EQ(read->kinds[1].groups, (Groups{{0, 1}, {2, 3}}));
  ASSERT_TRUE(read->stages.contains(2));
  EXPECT_EQ(read->stages.at(2).stage, 1);
  EXPECT_EQ(read->stages.at(2).bubble_ns, 40);
  EXPECT_EQ(read->stages.at(2).step_ns, 200);
}

TEST(ReadParallelism, SaysWhatIsMissing) {
  RunSummary summary;
  summary.analysis = "/nonexistent/run.sqlite";
  EXPECT_FALSE(ReadParallelism(summary).ok());
}

}  // namespace
}  // namespace tutti::viewer
