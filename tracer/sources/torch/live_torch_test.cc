// Runs a real LibTorch program (live_program.cc) with the torch source preloaded and compares
// what arrives with what the program says that it did.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tracer/testing/fake_collector.h"

namespace tutti::tracer::torch {
namespace {

using testing::DrainedRecord;
using testing::FakeCollector;
using ::testing::IsEmpty;
using testing::SegmentReader;
using wire::RecordKind;

constexpr uint32_t kUsual = wire::kCaptureTorch | wire::kCaptureMemory;

FakeCollector::Options Roomy(uint32_t capture_mask = kUsual) {
  FakeCollector::Options options;
  options.shape = {4096, 1u << 20, {{24, 1u << 13}}};
  options.capture_mask = capture_mask;
  return options;
}

// A child process with its standard output in a pipe.
class Child {
 public:
  Child(const std::string& scenario, const std::string& session) {
    int pipe_ends[2];
    EXPECT_EQ(pipe2(pipe_ends, O_CLOEXEC), 0);
    output_ = pipe_ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
    std::vector<std::string> environment = {"LD_PRELOAD=" TUTTI_TRACER, "TUTTI_SESSION=" + session,
                                            "OMP_NUM_THREADS=1"};
    std::vector<char*> variables;
    for (std::string& variable : environment) {
      variables.push_back(variable.data());
    }
    variables.push_back(nullptr);
    std::string program = TUTTI_PROGRAM;
    std::string argument = scenario;
    char* arguments[] = {program.data(), argument.data(), nullptr};
    EXPECT_EQ(posix_spawn(&pid_, TUTTI_PROGRAM, &actions, nullptr, arguments, variables.data()), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe_ends[1]);
  }
  ~Child() { close(output_); }

  // Reads the output until it ends, or until it contains |until|.
  std::string ReadOutput(const std::string& until = "\n\n") {
    std::string text;
    char buffer[4096];
    ssize_t bytes;
    while (text.find(until) == std::string::npos &&
           (bytes = read(output_, buffer, sizeof(buffer))) > 0) {
      text.append(buffer, static_cast<size_t>(bytes));
    }
    return text;
  }

  void Kill() const { kill(pid_, SIGKILL); }

  int Wait() const {
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    return status;
  }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
};

// What a program that ran to its end recorded, and what it said.
struct Trace {
  explicit Trace(const std::string& scenario, uint32_t capture_mask = kUsual)
      : collector(Roomy(capture_mask)) {
    Child child(scenario, collector.session());
    std::istringstream lines(child.ReadOutput());
    const int status = child.Wait();
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << "status " << status;
    std::string line;
    while (std::getline(lines, line)) {
      const size_t end = line.rfind(' ');
      EXPECT_TRUE(line.starts_with("truth ")) << line;
      truth[line.substr(6, end - 6)] = std::stol(line.substr(end + 1));
    }
    if (!collector.hellos().empty()) {
      reader = &collector.segment();
      records = reader->Drain();
    }
  }

  template <typename Record>
  std::vector<Record> All(RecordKind kind) const {
    std::vector<Record> all;
    for (const DrainedRecord& record : records) {
      if (record.kind() == kind) {
        all.push_back(record.As<Record>());
      }
    }
    return all;
  }
  std::vector<wire::CpuOpRecord> Operators() const {
    return All<wire::CpuOpRecord>(RecordKind::kCpuOp);
  }
  std::vector<wire::CollectiveRecord> Collectives() const {
    return All<wire::CollectiveRecord>(RecordKind::kCollective);
  }
  std::string Text(uint32_t index) const { return reader->String(index); }

  FakeCollector collector;
  SegmentReader* reader = nullptr;
  std::vector<DrainedRecord> records;
  std::map<std::string, long> truth;
};

uint64_t NothingLost(const Trace& trace) {
  uint64_t lost = 0;
  for (uint32_t reason = 1; reason < wire::kLossReasonCount; ++reason) {
    lost += trace.reader->Lost(static_cast<wire::LossReason>(reason));
  }
  return lost;
}

TEST(TorchLive, RecordsEveryOperatorOfTraining) {
  const Trace trace("train");
  ASSERT_NE(trace.reader, nullptr);
  EXPECT_EQ(NothingLost(trace), 0u);
  std::map<std::string, long> counts;
  for (const wire::CpuOpRecord& op : trace.Operators()) {
    ++counts[trace.Text(op.header.name)];
  }
  for (const wire::CollectiveRecord& collective : trace.Collectives()) {
    ++counts["gloo:" + trace.Text(collective.header.name)];
  }
  // The observer started after the first rank's group was made, and both saw all from then on.
  for (const auto& [name, count] : trace.truth) {
    EXPECT_GE(counts[name], count) << name;
  }
  for (const char* name : {"live_step", "c10d::allreduce_", "gloo:all_reduce", "AddmmBackward0",
                           "torch.distributed.ddp.reducer::copy_bucket_to_grad",
                           "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
                           "aten::linear", "aten::relu"}) {
    ASSERT_TRUE(trace.truth.contains(name)) << name;
    EXPECT_EQ(counts[name], trace.truth.at(name)) << name;
  }
  EXPECT_EQ(counts["gloo:all_reduce"], 2 * 2 * 2);  // ranks, steps, buckets
  EXPECT_EQ(counts["live_step"], 4);
}

TEST(TorchLive, NestsOperatorsOfAThread) {
  const Trace trace("train");
  std::map<uint32_t, std::vector<wire::CpuOpRecord>> threads;
  for (const DrainedRecord& record : trace.records) {
    if (record.kind() == RecordKind::kCpuOp) {
      threads[record.tid].push_back(record.As<wire::CpuOpRecord>());
    }
  }
  size_t nested = 0;
  for (const auto& [tid, ops] : threads) {
    for (const wire::CpuOpRecord& op : ops) {
      EXPECT_LT(op.begin_ticks, op.end_ticks);
      // Some operator one level up contains it.
      bool has_parent = op.depth == 0;
      for (const wire::CpuOpRecord& other : ops) {
        has_parent |= other.depth + 1 == op.depth && other.begin_ticks <= op.begin_ticks &&
                      op.end_ticks <= other.end_ticks;
      }
      EXPECT_TRUE(has_parent) << trace.Text(op.header.name) << " at depth " << op.depth;
      nested += op.depth > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(nested, 20u);
}

TEST(TorchLive, LinksBackwardToForward) {
  const Trace trace("train");
  std::set<std::pair<uint64_t, int64_t>> forward;
  for (const wire::CpuOpRecord& op : trace.Operators()) {
    if (op.scope == 0 && trace.Text(op.header.name) == "aten::addmm") {
      forward.insert({op.torch_tid, op.sequence_nr});
    }
  }
  int linked = 0;
  for (const wire::CpuOpRecord& op : trace.Operators()) {
    if (op.scope == 1 && trace.Text(op.header.name) == "AddmmBackward0") {
      EXPECT_TRUE(forward.contains({op.forward_tid, op.sequence_nr})) << op.sequence_nr;
      ++linked;
    }
  }
  EXPECT_EQ(linked, 2 * 2 * 2);  // ranks, steps, layers
}

struct ExpectedCollective {
  const char* op;
  int64_t bytes;
  const char* dtype;
  int32_t root;
};

TEST(TorchLive, RecordsCollectivesWithAllThatIsKnown) {
  const Trace trace("communicate");
  EXPECT_EQ(NothingLost(trace), 0u);
  std::map<uint32_t, std::map<int64_t, wire::CollectiveRecord>> by_group;
  for (const wire::CollectiveRecord& collective : trace.Collectives()) {
    if (collective.peer == -1) {
      by_group[collective.communicator][collective.sequence] = collective;
    }
  }
  ASSERT_EQ(by_group.size(), 2u);
  const ExpectedCollective expected[] = {
      {"all_reduce", 4000, "float32", -1}, {"broadcast", 120, "int64", 1},
      {"reduce", 4000, "float32", 1},      {"all_gather", 4000, "float32", -1},
      {"gather", 4000, "float32", 0},      {"scatter", 4000, "float32", 0},
      {"all_to_all", 40, "float64", -1},   {"reduce_scatter", 2000, "float32", -1},
      {"all_reduce", 120, "int64", -1},    {"barrier", 0, "", -1},
  };
  for (const auto& communicator : trace.All<wire::CommunicatorRecord>(RecordKind::kCommunicator)) {
    const auto& collectives = by_group[communicator.communicator];
    ASSERT_EQ(collectives.size(), std::size(expected));
    for (size_t i = 0; i < std::size(expected); ++i) {
      const wire::CollectiveRecord& collective = collectives.at(static_cast<int64_t>(i));
      EXPECT_EQ(trace.Text(collective.header.name), expected[i].op) << i;
      EXPECT_EQ(collective.root, expected[i].root) << i;
      EXPECT_LT(collective.begin_ticks, collective.end_ticks) << i;
      EXPECT_EQ(collective.bytes, expected[i].bytes) << i;
      EXPECT_EQ(trace.Text(collective.dtype), expected[i].dtype) << i;
    }
  }
}

TEST(TorchLive, JoinsEachCollectiveWithItsEnqueue) {
  const Trace trace("communicate");
  std::map<uint64_t, wire::CollectiveEnqueueRecord> enqueued;
  for (const auto& enqueue :
       trace.All<wire::CollectiveEnqueueRecord>(RecordKind::kCollectiveEnqueue)) {
    EXPECT_TRUE(enqueued.emplace(enqueue.work, enqueue).second) << "handle used twice";
  }
  EXPECT_EQ(enqueued.size(), trace.Collectives().size());
  for (const wire::CollectiveRecord& collective : trace.Collectives()) {
    ASSERT_TRUE(enqueued.contains(collective.work));
    const wire::CollectiveEnqueueRecord& enqueue = enqueued.at(collective.work);
    EXPECT_LE(enqueue.ticks, collective.begin_ticks);
    EXPECT_EQ(enqueue.communicator, collective.communicator);
    EXPECT_EQ(enqueue.sequence, collective.sequence);
    EXPECT_EQ(enqueue.header.name, collective.header.name);
  }
}

TEST(TorchLive, RecordsSendAndReceiveWithTheirPeers) {
  const Trace trace("communicate");
  std::map<std::string, wire::CollectiveRecord> transfers;
  for (const wire::CollectiveRecord& collective : trace.Collectives()) {
    if (collective.peer != -1) {
      transfers[trace.Text(collective.header.name)] = collective;
    }
  }
  ASSERT_EQ(transfers.size(), 2u);
  EXPECT_EQ(transfers["send"].peer, 1);
  EXPECT_EQ(transfers["recv"].peer, 0);
  EXPECT_EQ(transfers["recv"].bytes, 4000);
  EXPECT_NE(transfers["send"].communicator, transfers["recv"].communicator);
}

TEST(TorchLive, DescribesGroups) {
  const Trace trace("train");
  std::map<int32_t, wire::CommunicatorRecord> by_rank;  // the one that tells most
  for (const auto& group : trace.All<wire::CommunicatorRecord>(RecordKind::kCommunicator)) {
    EXPECT_EQ(group.backend, wire::Backend::kGloo);
    EXPECT_EQ(group.size, 2);
    if (group.header.name != 0 || !by_rank.contains(group.rank)) {
      by_rank[group.rank] = group;
    }
  }
  ASSERT_EQ(by_rank.size(), 2u);
  for (const auto& [rank, group] : by_rank) {
    EXPECT_EQ(trace.Text(group.header.name), "live");
    EXPECT_EQ(trace.Text(group.description), "pair of threads");
  }
  // PyTorch tells the members of the process's first group only, when nobody gave them.
  EXPECT_EQ(trace.Text(by_rank[0].global_ranks) + trace.Text(by_rank[1].global_ranks), "0,1");
}

TEST(TorchLive, RecordsShapesOnRequestOnly) {
  const auto shapes = [](const Trace& trace) {
    std::set<std::string> all;
    for (const wire::CpuOpRecord& op : trace.Operators()) {
      if (trace.Text(op.header.name) == "aten::addmm") {
        all.insert(trace.Text(op.shapes));
      }
    }
    return all;
  };
  EXPECT_THAT(shapes(Trace("train", kUsual | wire::kCaptureShapes)),
              ::testing::UnorderedElementsAre("[[8],[2,4],[4,8],null,null]",
                                              "[[1],[2,8],[8,1],null,null]"));
  EXPECT_THAT(shapes(Trace("train")), ::testing::ElementsAre(""));
}

TEST(TorchLive, FollowsRangesThatEndElsewhere) {
  const Trace trace("end_elsewhere");
  std::map<uint64_t, std::string> begun;
  std::map<std::string, uint64_t> begin_ticks;
  for (const auto& begin : trace.All<wire::AsyncBeginRecord>(RecordKind::kAsyncBegin)) {
    begun[begin.identity] = trace.Text(begin.header.name);
    begin_ticks[trace.Text(begin.header.name)] = begin.ticks;
  }
  for (const uint32_t ring : {0u, 1u, 2u, 3u}) {
    for (const wire::OpenSpan& span : trace.reader->OpenSpans(ring)) {
      begun[span.identity] = trace.Text(span.name);
      begin_ticks[trace.Text(span.name)] = span.begin_ticks;
    }
  }
  std::set<std::string> ended;
  for (const auto& end : trace.All<wire::AsyncEndRecord>(RecordKind::kAsyncEnd)) {
    ended.insert(begun[end.identity]);
    EXPECT_LT(begin_ticks[begun[end.identity]], end.ticks);
    EXPECT_NE(end.torch_tid, 0u);
  }
  EXPECT_THAT(ended, ::testing::ElementsAre("async", "ends elsewhere", "second"));
  std::set<std::string> whole;
  for (const wire::CpuOpRecord& op : trace.Operators()) {
    whole.insert(trace.Text(op.header.name));
  }
  EXPECT_TRUE(whole.contains("first"));
}

TEST(TorchLive, BalancesAllocationsWithPyTorchsOwnAccount) {
  Trace trace("allocate");
  EXPECT_EQ(NothingLost(trace), 0u);
  uint64_t begin = 0;
  for (const wire::CpuOpRecord& op : trace.Operators()) {
    begin = trace.Text(op.header.name) == "memory begins" ? op.begin_ticks : begin;
  }
  ASSERT_NE(begin, 0u);
  std::map<uint64_t, int64_t> live;
  std::map<std::string, long> seen;
  for (const auto& event : trace.All<wire::MemoryRecord>(RecordKind::kMemory)) {
    EXPECT_EQ(event.device_type, 0);
    if (event.ticks < begin) continue;
    if (event.delta_bytes > 0) {
      ++seen["allocations"];
      seen["allocated_bytes"] += event.delta_bytes;
      EXPECT_TRUE(live.emplace(event.address, event.delta_bytes).second);
    } else if (live.contains(event.address)) {
      ++seen["releases"];
      seen["released_bytes"] += live[event.address];
      live.erase(event.address);
    }
  }
  EXPECT_GT(trace.truth["allocations"], 200);
  EXPECT_EQ(seen, trace.truth);
  EXPECT_THAT(live, IsEmpty());
}

TEST(TorchLive, LetsExceptionsThrough) {
  Trace trace("throw");
  EXPECT_EQ(trace.truth["caught_out_of_memory"], 1);
  EXPECT_EQ(trace.truth["caught_bad_root"], 1);
  ASSERT_EQ(trace.Collectives().size(), 1u);
  EXPECT_EQ(trace.Text(trace.Collectives()[0].header.name), "all_reduce");
  EXPECT_EQ(trace.Collectives()[0].root, -1);
}

TEST(TorchLive, LeavesAProcessAloneThatDoesNotTrain) {
  Trace trace("compute");
  EXPECT_EQ(trace.truth["sum"], 100);
  EXPECT_TRUE(trace.collector.hellos().empty());
}

TEST(TorchLive, TakesABackwardPassForTraining) {
  Trace trace("backward");
  EXPECT_EQ(trace.truth["gradient"], 6);
  ASSERT_EQ(trace.collector.hellos().size(), 1u);
  EXPECT_STREQ(trace.collector.hellos()[0].reason, "backward");
  std::set<std::string> ops;
  for (const wire::CpuOpRecord& op : trace.Operators()) {
    ops.insert(trace.Text(op.header.name));
  }
  EXPECT_TRUE(ops.contains("MulBackward0"));
  EXPECT_TRUE(trace.All<wire::AsyncEndRecord>(RecordKind::kAsyncEnd).empty());
}

TEST(TorchLive, RecordsNothingThatIsSwitchedOff) {
  const Trace trace("train", wire::kCaptureMemory);
  EXPECT_THAT(trace.Operators(), IsEmpty());
  EXPECT_THAT(trace.Collectives(), IsEmpty());
  EXPECT_FALSE(trace.All<wire::MemoryRecord>(RecordKind::kMemory).empty());
  const Trace other("train", wire::kCaptureTorch);
  EXPECT_FALSE(other.Operators().empty());
  EXPECT_THAT(other.All<wire::MemoryRecord>(RecordKind::kMemory), IsEmpty());
}

TEST(TorchLive, ShowsACollectiveThatHangs) {
  FakeCollector collector(Roomy());
  Child child("hang", collector.session());
  EXPECT_EQ(child.ReadOutput("hangs\n"), "hangs\n");
  SegmentReader& reader = collector.segment();
  child.Kill();
  child.Wait();
  int hanging = 0;
  for (uint32_t ring = 0; ring < reader.ring_count(); ++ring) {
    for (const wire::OpenSpan& span : reader.OpenSpans(ring)) {
      if (span.kind == static_cast<uint8_t>(RecordKind::kCollective)) {
        EXPECT_EQ(reader.String(span.name), "all_reduce");
        EXPECT_EQ(span.aux2, 1024u);
        EXPECT_NE(span.aux, 0u);
        EXPECT_NE(span.domain, 0u);
        ++hanging;
      }
    }
  }
  EXPECT_EQ(hanging, 1);
}

TEST(TorchLive, RecordsNothingOfAForkedChild) {
  const Trace trace("fork");
  EXPECT_EQ(trace.collector.hellos().size(), 1u);
  std::map<std::string, long> counts;
  for (const wire::CpuOpRecord& op : trace.Operators()) {
    ++counts[trace.Text(op.header.name)];
  }
  EXPECT_EQ(counts["aten::neg"], 2);
  EXPECT_EQ(counts["aten::abs"], 0);
}

}  // namespace
}  // namespace tutti::tracer::torch
