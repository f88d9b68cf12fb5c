#include "analyzer/shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "analyzer/file_store.h"
#include "analyzer/run_files.h"
#include "analyzer/runner.h"
#include "analyzer/testing/shared_run.h"
#include "schema/row_pack.h"
#include "schema/sql.h"

namespace tutti::analyzer {
namespace {

using testing::DumpTables;
using testing::UnevenRanks;

// As one process of several: a context of its own, fed with images.
class Worker {
 public:
  explicit Worker(const RunFiles& files)
      : derived_(*schema::Database::OpenMemory()), context_(derived_, files, {}) {}

  Result<ShardRows> Run(const std::string& image, std::span<const Pass> passes, size_t first,
                        std::span<const int64_t> ranks, ShardStore* store) {
    TUTTI_RETURN_IF_ERROR(schema::LoadImage(derived_, image));
    return RunShard(passes, first, ranks, context_, store);
  }
  RunContext& context() { return context_; }

 private:
  schema::Database derived_;
  RunContext context_;
};

class LocalTeam : public Team {
 public:
  LocalTeam(const RunFiles& files, size_t processes, std::string parts = "")
      : files_(files), parts_(std::move(parts)) {
    for (size_t i = 1; i < processes; ++i) workers_.push_back(std::make_unique<Worker>(files));
  }

  Result<ShardRows> Run(std::span<const Pass> passes, size_t first, RunContext& context,
                        std::optional<size_t>&) override {
    TUTTI_ASSIGN_OR_RETURN(const auto ranks, context.Ranks());
    const auto dealt = DealRanks(ranks, files_, workers_.size() + 1);
    FileStore store(parts_, StoreKey(files_, ""), first);
    ShardStore* kept = parts_.empty() ? nullptr : &store;
    TUTTI_ASSIGN_OR_RETURN(ShardRows all, RunShard(passes, first, dealt[0], context, kept));
    for (size_t i = 0; i < workers_.size(); ++i) {
      TUTTI_ASSIGN_OR_RETURN(const std::string image, ShardImage(context.derived(), dealt[i + 1]));
      TUTTI_ASSIGN_OR_RETURN(ShardRows rows,
                             workers_[i]->Run(image, passes, first, dealt[i + 1], kept));
      context.MergeBad(workers_[i]->context().Bad());
      all.merge(rows);
    }
    loaded_ += store.loaded();
    return all;
  }
  int64_t loaded() const { return loaded_; }

 private:
  RunFiles files_;
  std::string parts_;
  std::vector<std::unique_ptr<Worker>> workers_;
  int64_t loaded_ = 0;
};

std::string Analyzed(const RunFiles& files, Team* team, std::span<const Pass> passes) {
  schema::Database derived = *schema::Database::OpenMemory();
  EXPECT_TRUE(derived.Execute(std::string(schema::DerivedSql())).ok());
  RunContext context(derived, files, {});
  const Status status = RunPasses(passes, context, {}, team);
  EXPECT_TRUE(status.ok()) << status.message();
  return DumpTables(derived);
}

TEST(Shard, AnyNumberOfProcessesGivesTheSameRows) {
  const UnevenRanks run(5);
  const RunFiles files = *FindRunFiles(run.path());
  const std::string alone = Analyzed(files, nullptr, AllPasses());
  EXPECT_NE(alone.find("MmBackward0"), std::string::npos);
  EXPECT_NE(alone.find("data_wait"), std::string::npos);
  for (const size_t processes : {1, 2, 3, 4, 7}) {
    LocalTeam team(files, processes);
    EXPECT_EQ(Analyzed(files, &team, AllPasses()), alone) << processes;
  }
}

TEST(Shard, WhatWasDoneIsNotDoneAgain) {
  const UnevenRanks run(5);
  const RunFiles files = *FindRunFiles(run.path());
  const std::string parts = run.Path("parts");
  std::filesystem::create_directory(parts);
  LocalTeam first(files, 2, parts);
  const std::string whole = Analyzed(files, &first, AllPasses());
  EXPECT_EQ(first.loaded(), 0);
  std::filesystem::remove(parts + "/pass-5-rank-3");
  LocalTeam second(files, 3, parts);
  EXPECT_EQ(Analyzed(files, &second, AllPasses()), whole);
  const auto kept = std::distance(std::filesystem::directory_iterator(parts), {});
  EXPECT_EQ(second.loaded(), kept - 1);
}

TEST(Shard, RowsOfOtherFilesAreNotTaken) {
  const UnevenRanks run(1);
  RunFiles files = *FindRunFiles(run.path());
  const ShardStore::Kept done{{{{3, 1}, "rows"}}, {{"ops", {2, 1}}}};
  FileStore store(run.path(), StoreKey(files, ""), 3);
  ASSERT_TRUE(store.Save(1, done).ok());
  const std::optional<ShardStore::Kept> kept = store.Load(1);
  ASSERT_TRUE(kept.has_value());
  EXPECT_EQ(kept->rows, done.rows);
  EXPECT_EQ(kept->bad.at("ops").rows, 2);
  EXPECT_EQ(kept->bad.at("ops").values, 1);
  EXPECT_FALSE(FileStore(run.path(), StoreKey(files, "other"), 3).Load(1).has_value());
  files.traces[0].mtime_ns += 1;
  EXPECT_FALSE(FileStore(run.path(), StoreKey(files, ""), 3).Load(1).has_value());
}

TEST(Shard, PartOfAFileIsNotTaken) {
  const UnevenRanks run(1);
  const FileStore::Kept done{{{{3, 1}, "rows"}, {{4, 1}, ""}}, {{"ops", {2, 1}}}};
  ASSERT_TRUE(FileStore(run.path(), "key", 3).Save(1, done).ok());
  const std::string path = run.Path("pass-3-rank-1");
  for (auto size = std::filesystem::file_size(path); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    EXPECT_FALSE(FileStore(run.path(), "key", 3).Load(1).has_value()) << size;
  }
}

TEST(Shard, RanksAreDealtBySize) {
  RunFiles files;
  std::vector<schema::RankRow> ranks;
  for (const int64_t bytes : {10, 60, 20, 30}) {
    schema::RankRow rank;
    rank.rank = static_cast<int64_t>(ranks.size());
    rank.input_file_id = rank.rank;
    ranks.push_back(rank);
    TraceFile file;
    file.bytes = bytes;
    files.traces.push_back(file);
  }
  const std::vector<std::vector<int64_t>> expected{{1}, {0, 2, 3}};
  EXPECT_EQ(DealRanks(ranks, files, 2), expected);
}

}  // namespace
}  // namespace tutti::analyzer
