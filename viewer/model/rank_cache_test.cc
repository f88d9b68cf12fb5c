#include "viewer/model/rank_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "viewer/testing/random_events.h"
#include "viewer/testing/small_run.h"

namespace tutti::viewer {
namespace {

namespace fs = std::filesystem;

class RankCacheTest : public ::testing::Test {
 protected:
  RankCacheTest() {
    std::string pattern = (fs::temp_directory_path() / "tutti-rank-cache-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    run_.summary.analysis = folder_ / "run.sqlite";
    run_.summary.traces = {folder_ / "rank-00000.sqlite", folder_ / "rank-00001.sqlite"};
    for (const std::string& path : run_.summary.traces) WriteAsSqlite(path, 'a');
    WriteAsSqlite(run_.summary.analysis, 'a');
    fs::create_directory(folder_ / "cache");
    for (int i = 0; i < 5; ++i) run_.names.Intern("random " + std::to_string(i));
    const NameId first = run_.names.Intern("random 0");
    std::vector<Event> events = testing::LaneEvents(7, 20'000, {.longest_ns = 1'000'000'000});
    for (Event& event : events) event.name += first;
    Track track;
    track.label = "thread 9";
    track.role = "host";
    track.lanes.emplace_back(events);
    trace_ = std::make_shared<RankTrace>(*run_.ranks[0]);
    trace_->tracks.push_back(std::move(track));
  }
  ~RankCacheTest() override { fs::remove_all(folder_); }

  // As long as a header, with a change counter.
  static void WriteAsSqlite(const std::string& path, char change_counter) {
    std::ofstream(path, std::ios::binary)
        << std::string(24, 'x') << std::string(76, change_counter);
  }

  std::string Entry() const {
    for (const auto& file : fs::directory_iterator(folder_ / "cache")) return file.path();
    return "";
  }
  RankCache Cache() const { return RankCache(folder_ / "cache", 1); }
  bool StoreIn(const RankCache& cache, size_t slot = 0) const {
    const auto stored = cache.Store(run_.summary, slot, run_.names, *trace_);
    EXPECT_TRUE(stored.ok()) << stored.status().message();
    return stored.ok() && *stored;
  }
  bool Store() const { return StoreIn(Cache()); }
  bool IsThere() {
    NameTable names;
    return Cache().Load(run_.summary, 0, &names).has_value();
  }

  fs::path folder_;
  testing::SmallRun run_;
  std::shared_ptr<RankTrace> trace_;
};

TEST_F(RankCacheTest, GivesBackWhatWasStored) {
  ASSERT_TRUE(Store());
  NameTable names;
  names.Intern("another run's name");  // so that numbers differ
  const std::optional<RankTrace> loaded = Cache().Load(run_.summary, 0, &names);
  ASSERT_TRUE(loaded.has_value());
  ASSERT_EQ(loaded->tracks.size(), trace_->tracks.size());
  EXPECT_EQ(loaded->events(), trace_->events());
  for (size_t t = 0; t < loaded->tracks.size(); ++t) {
    const Track& track = loaded->tracks[t];
    const Track& expected = trace_->tracks[t];
    EXPECT_EQ(track.kind, expected.kind);
    EXPECT_EQ(track.label, expected.label);
    EXPECT_EQ(track.role, expected.role);
    ASSERT_EQ(track.series.size(), expected.series.size());
    for (size_t i = 0; i < track.series.size(); ++i) {
      EXPECT_EQ(track.series.sample(i).time_ns, expected.series.sample(i).time_ns);
      EXPECT_EQ(track.series.sample(i).value, expected.series.sample(i).value);
    }
    ASSERT_EQ(track.lanes.size(), expected.lanes.size());
    for (size_t l = 0; l < track.lanes.size(); ++l) {
      ASSERT_EQ(track.lanes[l].size(), expected.lanes[l].size());
      for (uint32_t i = 0; i < track.lanes[l].size(); ++i) {
        const Event event = track.lanes[l].event(i);
        const Event wanted = expected.lanes[l].event(i);
        ASSERT_EQ(event.begin_ns, wanted.begin_ns);
        ASSERT_EQ(event.end_ns, wanted.end_ns);
        ASSERT_EQ(event.row_id, wanted.row_id);
        ASSERT_EQ(event.category, wanted.category);
        ASSERT_EQ(names.Text(event.name), run_.names.Text(wanted.name));
      }
      const LaneSummary whole = track.lanes[l].Summarize(0, track.lanes[l].size());
      const LaneSummary wanted = expected.lanes[l].Summarize(0, track.lanes[l].size());
      EXPECT_EQ(whole.longest, wanted.longest);
      EXPECT_EQ(whole.busy_ns, wanted.busy_ns);
    }
  }
}

TEST_F(RankCacheTest, BelongsToOneStateOfTheFiles) {
  ASSERT_TRUE(Store());
  EXPECT_TRUE(IsThere());
  WriteAsSqlite(run_.summary.traces[0], 'b');
  EXPECT_FALSE(IsThere());
  ASSERT_TRUE(Store());
  WriteAsSqlite(run_.summary.analysis, 'b');
  EXPECT_FALSE(IsThere());
}

TEST_F(RankCacheTest, EveryDamageIsNoticed) {
  ASSERT_TRUE(Store());
  const std::string path = Entry();
  std::string whole(fs::file_size(path), 0);
  std::ifstream(path, std::ios::binary).read(whole.data(), static_cast<long>(whole.size()));
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  };
  for (size_t at = 0; at < whole.size(); at += 1 + whole.size() / 301) {
    if (at >= 40 && at < 64) continue;  // unused
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write(damaged);
    EXPECT_FALSE(IsThere()) << at;
  }
  for (const size_t size :
       {size_t{0}, size_t{63}, size_t{64}, whole.size() / 2, whole.size() - 1}) {
    write(whole.substr(0, size));
    EXPECT_FALSE(IsThere()) << size;
  }
  write(whole + "x");
  EXPECT_FALSE(IsThere());
  write(whole);
  EXPECT_TRUE(IsThere());
}

TEST_F(RankCacheTest, SaysWhyAnEntryCantBeWritten) {
  const auto stored =
      RankCache(folder_ / "no such folder", 1).Store(run_.summary, 0, run_.names, *trace_);
  ASSERT_FALSE(stored.ok());
  EXPECT_NE(stored.status().message().find("can't be written: No such file"), std::string::npos)
      << stored.status().message();
}

TEST_F(RankCacheTest, KeepsNothingThatIsSmallDamagedOrOfTwoRuns) {
  EXPECT_FALSE(StoreIn(RankCache(folder_ / "cache")));
  EXPECT_FALSE(StoreIn(RankCache("", 1)));
  run_.summary.first_slot_of_b = 1;
  EXPECT_FALSE(Store());
  run_.summary.first_slot_of_b.reset();
  trace_->status = IoError("half of it");
  EXPECT_FALSE(Store());
  EXPECT_EQ(Entry(), "");
}

TEST_F(RankCacheTest, WhatWasNotUsedForAWeekGoes) {
  ASSERT_TRUE(Store());
  const std::string old = Entry();
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(24 * 8));
  ASSERT_TRUE(StoreIn(Cache(), 1));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_NE(Entry(), "");
}

}  // namespace
}  // namespace tutti::viewer
