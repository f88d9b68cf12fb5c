#include "collector/importers/flight_recorder/dump.h"

#include <gtest/gtest.h>

#include "collector/importers/pickle/json.h"

namespace tutti::collector::importers::flight_recorder {
namespace {

Dump ParseJson(const char* json) {
  const Result<pickle::Document> document = pickle::ReadJson(json);
  EXPECT_TRUE(document.ok());
  EXPECT_TRUE(document->problem.ok()) << document->problem.message();
  EXPECT_TRUE(IsDump(document->root));
  return ParseDump(document->root, std::string_view(json).size());
}

TEST(ParseDump, ReadsACurrentOne) {
  const Dump dump = ParseJson(R"({
    "version": "2.9", "nccl_version": "2.27.3",
    "pg_config": {"35": {"name": "35", "desc": "TENSOR", "ranks": "[4, 5, 6, 7]"}},
    "pg_status": {"5": {"last_enqueued_collective": 9, "last_started_collective": -1,
                        "last_completed_collective": 7}},
    "entries": [{
      "record_id": 3, "pg_id": 5, "process_group": ["35", "TENSOR"], "thread_name": "python3",
      "thread_id": "234", "collective_seq_id": 8, "p2p_seq_id": 0, "op_id": 8,
      "profiling_name": "nccl:_reduce_scatter_base", "time_created_ns": 1000,
      "input_sizes": [[8, 4]], "input_dtypes": ["BFloat16"],
      "output_sizes": [[2, 4]], "output_dtypes": ["BFloat16"],
      "state": "started", "time_discovered_started_ns": 1500,
      "time_discovered_completed_ns": null, "retired": false, "timeout_ms": 180000,
      "is_p2p": false,
      "frames": [{"name": "step", "filename": "train.py", "line": 88},
                 {"name": "main", "filename": "train.py", "line": 7}]}]})");
  EXPECT_EQ(dump.version, "2.9");
  EXPECT_EQ(dump.nccl_version, "2.27.3");
  ASSERT_EQ(dump.groups.size(), 1U);
  EXPECT_EQ(dump.groups[0].description, "TENSOR");
  EXPECT_EQ(dump.groups[0].ranks, (std::vector<int64_t>{4, 5, 6, 7}));
  EXPECT_EQ(dump.groups[0].last_enqueued, 9);
  EXPECT_FALSE(dump.groups[0].last_started.has_value());
  ASSERT_EQ(dump.entries.size(), 1U);
  const Entry& entry = dump.entries[0];
  EXPECT_EQ(entry.op, "reduce_scatter");
  EXPECT_EQ(entry.collective_sequence, 8);
  EXPECT_EQ(entry.state, State::kStarted);
  EXPECT_EQ(entry.created_ns, 1000);
  EXPECT_EQ(entry.started_ns, 1500);
  EXPECT_FALSE(entry.completed_ns.has_value());
  EXPECT_EQ(entry.Payload(4), 16);  // what a rank gets: 2 x 4 of two bytes
  EXPECT_EQ(entry.dtype(), "bfloat16");
  EXPECT_EQ(entry.Shapes(), "[8, 4] -> [2, 4]");
  EXPECT_EQ(entry.stack, "step (train.py:88)\nmain (train.py:7)");
  EXPECT_EQ(entry.thread_id, 234);
}

TEST(ParseDump, ReadsTheOldestWithoutGroups) {
  const Dump dump = ParseJson(R"([
    {"seq_id": 4, "pg_id": 0, "profiling_name": "nccl:all_to_all", "state": "scheduled",
     "time_created_us": 7, "input_sizes": [[4, 10]], "output_sizes": [[4, 10]],
     "frames": "#0 f from a.py:1\n"}])");
  ASSERT_EQ(dump.entries.size(), 1U);
  EXPECT_EQ(dump.entries[0].collective_sequence, 4);
  EXPECT_EQ(dump.entries[0].created_ns, 7000);
  EXPECT_EQ(dump.entries[0].stack, "#0 f from a.py:1");
  EXPECT_FALSE(dump.entries[0].Payload(2).has_value());  // no type, no bytes
  ASSERT_EQ(dump.groups.size(), 1U);
  EXPECT_EQ(dump.groups[0].name, "0");
}

// torch's JSON writes 0 for a time that is not known and the numbers of a state as text.
TEST(ParseDump, KnowsWhatJsonWritesDifferently) {
  const Dump dump = ParseJson(R"({
    "version": "2.4", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
    "pg_status": {"0": {"last_enqueued_collective": "12", "last_started_collective": "-1",
                        "last_completed_collective": "11"}},
    "entries": [{"pg_id": 0, "process_group": ["0", "default_pg"], "collective_seq_id": 12,
                 "p2p_seq_id": 0, "profiling_name": "nccl:all_reduce", "state": "scheduled",
                 "time_created_ns": 5, "time_discovered_started_ns": 0,
                 "time_discovered_completed_ns": 0, "is_p2p": false}]})");
  EXPECT_EQ(dump.groups[0].last_enqueued, 12);
  EXPECT_EQ(dump.groups[0].last_completed, 11);
  EXPECT_FALSE(dump.entries[0].started_ns.has_value());
  EXPECT_FALSE(dump.entries[0].completed_ns.has_value());
}

TEST(ParseDump, TellsTheCallsOfABatchHowFarItIs) {
  const Dump dump = ParseJson(R"({"version": "2.9", "entries": [
    {"pg_id": 0, "process_group": ["0", ""], "p2p_seq_id": 6, "collective_seq_id": 1,
     "profiling_name": "nccl:send 0->1", "state": "scheduled", "is_p2p": true},
    {"pg_id": 0, "process_group": ["0", ""], "p2p_seq_id": 6, "collective_seq_id": 1,
     "profiling_name": "nccl:coalesced", "state": "completed", "is_p2p": true,
     "time_discovered_completed_ns": 9},
    {"pg_id": 0, "process_group": ["0", ""], "p2p_seq_id": 6, "collective_seq_id": 6,
     "profiling_name": "nccl:all_reduce", "state": "scheduled", "is_p2p": false}]})");
  ASSERT_EQ(dump.entries.size(), 3U);
  EXPECT_EQ(dump.entries[0].state, State::kCompleted);
  EXPECT_EQ(dump.entries[0].completed_ns, 9);
  EXPECT_TRUE(dump.entries[1].is_batch);
  EXPECT_EQ(dump.entries[2].state, State::kScheduled);
}

TEST(ParseDump, CountsWhatIsNoEntry) {
  const Dump dump = ParseJson(R"({"version": "2.9", "entries": [
    {"pg_id": 0}, 7, {"pg_id": 0, "profiling_name": "nccl:barrier", "pg_name": "0"}],
    "nccl_comm_state": {"0x1": {"a": "b"}, "0x2": {}}})");
  EXPECT_EQ(dump.entries.size(), 1U);
  EXPECT_EQ(dump.oddities.at("entry_not_readable"), 2);
  EXPECT_EQ(dump.oddities.at("nccl_comm_state"), 2);
}

TEST(Entry, PayloadDoesNotOverflow) {
  Entry entry;
  entry.op = "all_reduce";
  const Dump dump = ParseJson(R"({"version": "2.9", "entries": [
    {"profiling_name": "nccl:all_reduce", "input_sizes": [[4294967296, 4294967296]],
     "input_dtypes": ["Float"]},
    {"profiling_name": "nccl:all_reduce", "input_sizes": [[-1]], "input_dtypes": ["Float"]},
    {"profiling_name": "nccl:all_to_all", "input_sizes": [[6], [2]],
     "input_dtypes": ["Float", "Float"]}]})");
  EXPECT_FALSE(dump.entries[0].Payload(2).has_value());
  EXPECT_FALSE(dump.entries[1].Payload(2).has_value());
  EXPECT_EQ(dump.entries[2].Payload(2), 16);  // 8 of 4 bytes, to 2 ranks
}

// A hundred thousand entries that all are one, with ten thousand sizes.
TEST(ParseDump, DoesNotMultiplyWhatIsShared) {
  std::string bytes = "}(Vversion\nV2.9\nVentries\n](}(Vprofiling_name\nVnccl:x\nVinput_sizes\n](";
  for (int i = 0; i < 10'000; ++i) bytes += ']';
  bytes += "euq\x01";
  for (int i = 0; i < 100'000; ++i) bytes += "h\x01";
  bytes += "eu.";
  const Result<pickle::Document> document = pickle::Read(bytes);
  ASSERT_TRUE(document.ok() && document->problem.ok()) << document->problem.message();
  const Dump dump = ParseDump(document->root, bytes.size());
  EXPECT_LT(dump.entries.size(), 1000U);
  EXPECT_EQ(dump.entries.size() + static_cast<size_t>(dump.oddities.at("dump_repeats_itself")),
            100'001U);
}

TEST(CommonRank, IsTheOneThatAllGroupsHave) {
  std::vector<Group> groups(3);
  groups[0].ranks = {0, 1, 2, 3};
  groups[1].ranks = {1, 3};
  EXPECT_FALSE(CommonRank(groups).has_value());
  groups[2].ranks = {2, 3};
  EXPECT_EQ(CommonRank(groups), 3);
  EXPECT_FALSE(CommonRank({}).has_value());
}

}  // namespace
}  // namespace tutti::collector::importers::flight_recorder
