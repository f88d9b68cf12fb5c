#include "collector/convert/nccl_records.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "collector/testing/spool_builder.h"

namespace tutti::collector::convert {
namespace {

constexpr int64_t kTid = 100;

class NcclRecordsTest : public ::testing::Test {
 protected:
  NcclRecordsTest() : path_(directory_.path() + "/rank.sqlite") {
    auto writer = schema::TraceWriter::Create(path_);
    EXPECT_TRUE(writer.ok());
    writer_ = std::move(*writer);
    rows_ = std::make_unique<RowOutput>(*writer_);
    context_ = std::make_unique<Context>(*rows_, clock::Anchor{0, 0}, 16, kTid);
    nccl_ = std::make_unique<NcclRecords>(*context_);
    context_->strings.Define(kAllReduce, "AllReduce");
    context_->strings.Define(kFloat32, "ncclFloat32");
    context_->strings.Define(kTree, "TREE");
    context_->strings.Define(kSimple, "SIMPLE");
    context_->strings.Define(kOdd, "FutureOp");
    EXPECT_TRUE(context_->clock.Add({0, 0, 0, 1}));
    EXPECT_TRUE(context_->clock.Add({1'000'000, 1'000'000, 1'000'000, 1}));
  }
  static constexpr uint32_t kAllReduce = 1, kFloat32 = 2, kTree = 3, kSimple = 4, kOdd = 5;

  void Call(const char* name, int64_t begin_ns, int64_t end_ns, const std::string& payload = "") {
    schema::RangeRow row;
    row.tid = kTid;
    row.kind = "push_pop";
    row.begin_ns = begin_ns;
    row.end_ns = end_ns;
    if (!payload.empty()) row.payload = payload;
    nccl_->OnRange(row, name);
  }
  static std::string Payload(uint64_t communicator, int64_t bytes) {
    return "{\"NCCL communicator ID\":" + std::to_string(communicator) +
           ",\"Message size [bytes]\":" + std::to_string(bytes) + "}";
  }
  void Kernel(int64_t launch_ns, int64_t correlation, int64_t begin_ns, int64_t end_ns,
              const char* name = "ncclDevKernel_SendRecv") {
    nccl_->OnLaunch(kTid, launch_ns, correlation);
    schema::KernelRow kernel;
    kernel.begin_ns = begin_ns;
    kernel.end_ns = end_ns;
    kernel.correlation_id = correlation;
    kernel.stream_id = 20;
    nccl_->OnKernel(kernel, conventions::ParseNcclKernel(name));
  }

  // |function|, |count| elements of 4 bytes, as NCCL's plugin is told.
  void Told(uint32_t function, int64_t time_ns, uint64_t communicator, int64_t sequence,
            uint64_t count) {
    wire::NcclCallRecord record{};
    record.header.name = function;
    record.ticks = static_cast<uint64_t>(time_ns);
    record.communicator = communicator;
    record.sequence = sequence;
    record.count = count;
    record.datatype = kFloat32;
    record.algorithm = kTree;
    record.protocol = kSimple;
    record.channels = 8;
    record.is_collective = 1;
    nccl_->OnPluginCall(context_->threads.Find(kTid, 1), record);
  }

  // "op bytes begin correlation" of each row of |origin|, in order of enqueuing.
  std::vector<std::string> Rows(const std::string& origin = "nccl_nvtx") {
    if (database_ == nullptr) {
      nccl_->Finish();
      context_->communicators.WriteChanged(*rows_);
      EXPECT_TRUE(writer_->Finalize().ok());
      auto database = schema::Database::OpenReadOnly(path_);
      EXPECT_TRUE(database.ok());
      database_ = std::make_unique<schema::Database>(std::move(*database));
    }
    std::vector<std::string> lines;
    const auto rows = schema::ReadAll<schema::CollectiveSourceRow>(
        *database_, "WHERE origin = '" + origin + "' ORDER BY enqueue_ns, begin_ns");
    EXPECT_TRUE(rows.ok());
    const auto number = [](std::optional<int64_t> value) {
      return value ? std::to_string(*value) : "-";
    };
    for (const schema::CollectiveSourceRow& row : *rows) {
      const auto strings =
          schema::ReadAll<schema::StringRow>(*database_, "WHERE id = " + std::to_string(row.op_id));
      lines.push_back(strings->at(0).text + " " + number(row.bytes) + " " + number(row.begin_ns) +
                      " " + number(row.correlation_id));
    }
    return lines;
  }
  std::vector<schema::CommunicatorRow> Communicators() {
    return *schema::ReadAll<schema::CommunicatorRow>(*database_, "ORDER BY id");
  }

  testing::TemporaryDirectory directory_;
  const std::string path_;
  std::unique_ptr<schema::TraceWriter> writer_;
  std::unique_ptr<RowOutput> rows_;
  std::unique_ptr<Context> context_;
  std::unique_ptr<NcclRecords> nccl_;
  std::unique_ptr<schema::Database> database_;
};

using Lines = std::vector<std::string>;

TEST_F(NcclRecordsTest, ACallHasTheKernelThatWasLaunchedInside) {
  Call("ncclAllReduce", 100, 200, Payload(7, 4096));
  Kernel(150, 1, 300, 400, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  Kernel(250, 2, 500, 600);  // launched after it
  EXPECT_EQ(Rows(), Lines{"all_reduce 4096 300 1"});
  EXPECT_EQ(Rows("kernel"), Lines{"all_reduce - 300 1"});
  ASSERT_EQ(Communicators().size(), 1U);
  EXPECT_EQ(Communicators()[0].uid, "0x7");
  EXPECT_EQ(Communicators()[0].backend, "nccl");
}

TEST_F(NcclRecordsTest, GpuEventsMayComeFirst) {
  Kernel(150, 1, 300, 400);
  Call("ncclSend", 100, 200, Payload(7, 8));
  EXPECT_EQ(Rows(), Lines{"send 8 300 1"});
}

TEST_F(NcclRecordsTest, OneKernelOfAGroupIsAllItsCalls) {
  Call("ncclGroupStart", 100, 101);
  Call("ncclSend", 110, 111, Payload(7, 8));
  Call("ncclRecv", 120, 121, Payload(7, 16));
  Call("ncclGroupEnd", 130, 200);
  Kernel(150, 1, 300, 400);
  EXPECT_EQ(Rows(), (Lines{"send 8 300 1", "recv 16 300 1"}));
}

TEST_F(NcclRecordsTest, OneKernelForEachCallOfAGroupInOrder) {
  Call("ncclGroupEnd", 130, 200);  // arrives before the calls: they wait for their payloads
  Call("ncclGroupStart", 100, 101);
  Call("ncclBroadcast", 110, 111, Payload(7, 8));
  Call("ncclReduce", 120, 121, Payload(7, 16));
  Kernel(160, 2, 500, 600);
  Kernel(150, 1, 300, 400);
  EXPECT_EQ(Rows(), (Lines{"broadcast 8 300 1", "reduce 16 500 2"}));
}

TEST_F(NcclRecordsTest, WhatIsNotCertainHasNoTimes) {
  Call("ncclGroupStart", 100, 101);
  Call("ncclSend", 110, 111, Payload(7, 8));
  Call("ncclRecv", 120, 121, Payload(7, 16));
  Call("ncclSend", 122, 123, Payload(7, 32));
  Call("ncclGroupEnd", 130, 200);
  Kernel(150, 1, 300, 400);
  Kernel(160, 2, 500, 600);                        // two kernels of three calls
  Call("ncclAllGather", 700, 800, Payload(8, 1));  // no kernel at all
  EXPECT_EQ(Rows(), (Lines{"send 8 - -", "recv 16 - -", "send 32 - -", "all_gather 1 - -"}));
}

TEST_F(NcclRecordsTest, InitTellsTheOwnPlaceInTheCommunicator) {
  Call("ncclCommInitRank", 1, 2,
       R"({"NCCL communicator ID":9,"No. of ranks":4,"Rank":3,"CUDA device":0})");
  Call("ncclAllReduce", 100, 200, Payload(9, 4));
  EXPECT_EQ(Rows().size(), 1U);
  ASSERT_EQ(Communicators().size(), 1U);
  EXPECT_EQ(Communicators()[0].group_rank, 3);
  EXPECT_EQ(Communicators()[0].group_size, 4);
}

// What is old enough is written while the recording goes on, what is not waits.
TEST_F(NcclRecordsTest, WaitsForLateGpuEvents) {
  constexpr int64_t kSecond = 1'000'000'000;
  Call("ncclAllReduce", 1 * kSecond, 1 * kSecond + 100, Payload(7, 1));
  Call("ncclAllReduce", 5 * kSecond, 5 * kSecond + 100, Payload(7, 2));
  Kernel(1 * kSecond + 50, 1, 2 * kSecond, 3 * kSecond);
  nccl_->Advance(12 * kSecond);  // the first is written, the second is too new
  Kernel(5 * kSecond + 50, 2, 6 * kSecond, 7 * kSecond);
  EXPECT_EQ(Rows(), (Lines{"all_reduce 1 2000000000 1", "all_reduce 2 6000000000 2"}));
}

TEST_F(NcclRecordsTest, ThePluginsFactsGoToTheRangeOfTheirCall) {
  Told(kAllReduce, 150, 7, 30, 1024);
  Told(kAllReduce, 151, 7, 31, 2048);  // in a group NCCL takes the larger first
  Told(kAllReduce, 350, 7, 32, 1024);
  Call("ncclAllReduce", 100, 110, Payload(7, 8192));
  Call("ncclAllReduce", 120, 130, Payload(7, 4096));
  Call("ncclAllReduce", 300, 400, Payload(7, 4096));
  EXPECT_EQ(Rows(), (Lines{"all_reduce 8192 - -", "all_reduce 4096 - -", "all_reduce 4096 - -"}));
  const auto rows =
      *schema::ReadAll<schema::CollectiveSourceRow>(*database_, "ORDER BY enqueue_ns");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].sequence, 31);
  EXPECT_EQ(rows[1].sequence, 30);
  EXPECT_EQ(rows[2].sequence, 32);
  EXPECT_EQ(rows[0].algorithm, "TREE");
  EXPECT_EQ(rows[0].protocol, "SIMPLE");
  EXPECT_EQ(rows[0].channels, 8);
  EXPECT_EQ(rows[0].root, std::nullopt);
  EXPECT_NE(rows[0].dtype_id, 0);
}

TEST_F(NcclRecordsTest, WithoutRangesThePluginsCallsStandAlone) {
  wire::NcclCommunicatorRecord communicator{};
  communicator.hash = 7;
  communicator.rank = 1;
  communicator.size = 4;
  nccl_->OnCommunicator(communicator);
  Told(kAllReduce, 150, 7, 30, 1024);
  Told(kOdd, 160, 7, 31, 1024);
  EXPECT_EQ(Rows("nccl_plugin"), Lines{"all_reduce 4096 - -"});
  ASSERT_EQ(Communicators().size(), 1U);
  EXPECT_EQ(Communicators()[0].group_rank, 1);
  EXPECT_EQ(Communicators()[0].group_size, 4);
}

TEST_F(NcclRecordsTest, PayloadsMayBeAnything) {
  for (const char* payload : {"[", "3", "{\"NCCL communicator ID\":-1}",
                              "{\"NCCL communicator ID\":\"x\",\"Message size [bytes]\":1e300}"}) {
    Call("ncclAllReduce", 100, 200, payload);
  }
  EXPECT_EQ(Rows(), Lines(4, "all_reduce - - -"));
}

}  // namespace
}  // namespace tutti::collector::convert
