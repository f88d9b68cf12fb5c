#include "tracer/sources/nccl/plugin.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tracer/testing/rank_fixture.h"

namespace tutti::tracer::nccl {
namespace {

using testing::DrainedRecord;
using wire::RecordKind;

constexpr uint64_t kProxyOp = 8;
constexpr uint64_t kKernelChannel = 64;

class PluginTest : public testing::RankTest {
 protected:
  static constexpr wire::SegmentShape kShape = {1024, 1u << 16, {{8, 32768}}};

  // A communicator as NCCL makes one; what was asked for is in mask_.
  void* InitV5(uint64_t hash = 0xabcd) {
    void* context = &mask_;  // must be overwritten
    EXPECT_EQ(nccl::InitV5(&context, hash, &mask_, "tp", 2, 16, 5, nullptr), 0);
    return context;
  }
  static EventDescriptor AllReduce(uint64_t sequence) {
    EventDescriptor event{};
    event.type = kCollective;
    event.collective = {sequence,      "AllReduce", nullptr, nullptr, 1024,   3,
                        "ncclFloat32", 4,           16,      "RING",  "LL128"};
    return event;
  }
  void ListenAs(wire::WelcomeStatus status, uint32_t capture_mask = ~0U) {
    testing::FakeCollector::Options options;
    options.shape = kShape;
    options.status = status;
    options.capture_mask = capture_mask;
    Listen(options);
  }
  std::vector<wire::NcclCallRecord> Calls() {
    std::vector<wire::NcclCallRecord> calls;
    for (const DrainedRecord& record : reader().DrainKind(RecordKind::kNcclCall)) {
      calls.push_back(record.As<wire::NcclCallRecord>());
    }
    return calls;
  }

  int mask_ = -1;
};

TEST_F(PluginTest, ACommunicatorMakesARank) {
  ListenAs(wire::WelcomeStatus::kAccepted);
  EXPECT_NE(InitV5(), nullptr);
  EXPECT_EQ(mask_, 2 | 4);
  EXPECT_STREQ(collector_->hellos().at(0).reason, "ncclCommInit");
  const auto records = reader().DrainKind(RecordKind::kNcclCommunicator);
  ASSERT_EQ(records.size(), 1U);
  const auto communicator = records[0].As<wire::NcclCommunicatorRecord>();
  EXPECT_EQ(reader().String(communicator.header.name), "tp");
  EXPECT_EQ(communicator.hash, 0xabcdU);
  EXPECT_EQ(communicator.rank, 5);
  EXPECT_EQ(communicator.size, 16);
  EXPECT_EQ(communicator.nodes, 2);
}

TEST_F(PluginTest, WhoIsNotTracedIsAskedForNothing) {
  ListenAs(wire::WelcomeStatus::kNotSelected);
  EXPECT_EQ(InitV5(), nullptr);
  EXPECT_EQ(mask_, 0);
  ListenAs(wire::WelcomeStatus::kAccepted, ~wire::kCaptureNccl);
  EXPECT_EQ(InitV5(), nullptr);
  EXPECT_EQ(mask_, 0);
}

TEST_F(PluginTest, CollectivesOfBothVersions) {
  ListenAs(wire::WelcomeStatus::kAccepted);
  void* const context = InitV5();
  EventDescriptor event = AllReduce(7);
  void* handle = &event;
  EXPECT_EQ(StartEventV5(context, &handle, &event), 0);
  EXPECT_EQ(handle, nullptr);  // so NCCL comes back for nothing
  void* context_v4 = nullptr;
  EXPECT_EQ(nccl::InitV4(&context_v4, &mask_, nullptr, 0x1234, 1, 4, 2, nullptr), 0);
  EXPECT_EQ(mask_, 2 | 4);
  event = AllReduce(8);
  event.type |= 0xcafe'0000'0000'0100;  // version 4 fills in one byte only
  EXPECT_EQ(StartEventV4(context_v4, &handle, &event), 0);
  const auto calls = Calls();
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(reader().String(calls[0].header.name), "AllReduce");
  EXPECT_EQ(calls[0].communicator, 0xabcdU);
  EXPECT_EQ(calls[0].sequence, 7);
  EXPECT_EQ(calls[0].count, 1024U);
  EXPECT_EQ(reader().String(calls[0].datatype), "ncclFloat32");
  EXPECT_EQ(reader().String(calls[0].algorithm), "RING");
  EXPECT_EQ(reader().String(calls[0].protocol), "LL128");
  EXPECT_EQ(calls[0].root_or_peer, 3);
  EXPECT_EQ(calls[0].channels, 4);
  EXPECT_EQ(calls[0].is_collective, 1);
  EXPECT_EQ(calls[1].communicator, 0x1234U);
  EXPECT_EQ(calls[1].sequence, 8);
}

// NCCL 2.24 to 2.26, as the bytes that NCCL lays down: the offsets are of its headers.
TEST_F(PluginTest, CallsOfEarlyVersions) {
  ListenAs(wire::WelcomeStatus::kAccepted);
  void* context = nullptr;
  EXPECT_EQ(InitEarly(&context, &mask_), 0);
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(mask_, 2 | 4);
  for (const int version : {2, 3}) {
    alignas(8) std::array<std::byte, 128> bytes{};
    const auto put = [&bytes](size_t at, auto value) {
      std::memcpy(bytes.data() + at, &value, sizeof(value));
    };
    const size_t choice = version == 2 ? 104 : 96;
    put(0, uint8_t{2});
    put(16, 5);
    put(24, "tp");
    put(32, uint64_t{0xfeed});
    put(40, static_cast<uint64_t>(version));
    put(48, "Broadcast");
    put(72, size_t{2048});
    put(80, 3);
    put(88, "ncclBfloat16");
    if (version == 2) put(96, size_t{4096});  // bytes of traffic
    put(choice, uint8_t{24});
    put(choice + 8, "TREE");
    put(choice + 16, "SIMPLE");
    auto* const event = reinterpret_cast<EarlyEventDescriptor*>(bytes.data());
    void* handle = &context;
    EXPECT_EQ((version == 2 ? StartEventV2 : StartEventV3)(context, &handle, event), 0);
    EXPECT_EQ(handle, nullptr);
  }
  alignas(8) std::array<std::byte, 128> bytes{};
  auto* const event = reinterpret_cast<EarlyEventDescriptor*>(bytes.data());
  event->type = kPointToPoint;
  event->point_to_point = {"tp", 0xfeed, "Recv", nullptr, "ncclInt8", 9, 1};
  EXPECT_EQ(StartEventV3(context, nullptr, event), 0);
  event->type = kProxyOp;
  EXPECT_EQ(StartEventV3(context, nullptr, event), 0);
  EXPECT_EQ(StartEventV3(nullptr, nullptr, event), 0);
  EXPECT_EQ(StartEventV2(context, nullptr, nullptr), 0);
  const auto calls = Calls();
  ASSERT_EQ(calls.size(), 3U);
  for (const size_t at : {0U, 1U}) {
    EXPECT_EQ(reader().String(calls[at].header.name), "Broadcast");
    EXPECT_EQ(calls[at].communicator, 0xfeedU);
    EXPECT_EQ(calls[at].sequence, at == 0 ? 2 : 3);
    EXPECT_EQ(calls[at].count, 2048U);
    EXPECT_EQ(calls[at].root_or_peer, 3);
    EXPECT_EQ(reader().String(calls[at].datatype), "ncclBfloat16");
    EXPECT_EQ(reader().String(calls[at].algorithm), "TREE");
    EXPECT_EQ(reader().String(calls[at].protocol), "SIMPLE");
    EXPECT_EQ(calls[at].channels, 0);  // 24 are what it may use
  }
  EXPECT_EQ(reader().String(calls[2].header.name), "Recv");
  EXPECT_EQ(calls[2].communicator, 0xfeedU);
  EXPECT_EQ(calls[2].sequence, -1);
  EXPECT_EQ(calls[2].root_or_peer, 1);
  EXPECT_EQ(calls[2].is_collective, 0);
}

TEST_F(PluginTest, WhoIsNotTracedIsAskedForNothingByEarlyVersions) {
  ListenAs(wire::WelcomeStatus::kNotSelected);
  void* context = &mask_;
  EXPECT_EQ(InitEarly(&context, &mask_), 0);
  EXPECT_EQ(context, nullptr);
  EXPECT_EQ(mask_, 0);
}

TEST_F(PluginTest, Transfers) {
  ListenAs(wire::WelcomeStatus::kAccepted);
  EventDescriptor event{};
  event.type = kPointToPoint;
  event.point_to_point = {"Send", nullptr, "ncclInt8", 99, 6, 2};
  EXPECT_EQ(StartEventV5(InitV5(), nullptr, &event), 0);
  const auto calls = Calls();
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(reader().String(calls[0].header.name), "Send");
  EXPECT_EQ(calls[0].sequence, -1);
  EXPECT_EQ(calls[0].count, 99U);
  EXPECT_EQ(calls[0].root_or_peer, 6);
  EXPECT_EQ(calls[0].is_collective, 0);
}

// What NCCL passes where nothing is known, or to children that arrive late.
TEST_F(PluginTest, NothingIsEverDereferenced) {
  ListenAs(wire::WelcomeStatus::kAccepted);
  void* const context = InitV5();
  void* const junk = reinterpret_cast<void*>(0xdead'0000);
  EXPECT_EQ(StopEvent(junk), 0);
  EXPECT_EQ(RecordEventState(junk, 12, junk), 0);
  EXPECT_EQ(StartEventV5(context, nullptr, nullptr), 0);
  EventDescriptor event{};
  event.parent = junk;  // of another process even
  void* handle = junk;
  for (const uint64_t type : {uint64_t{0}, kProxyOp, kKernelChannel, uint64_t{1} << 40}) {
    event.type = type;
    EXPECT_EQ(StartEventV5(context, &handle, &event), 0);
    EXPECT_EQ(handle, nullptr);
  }
  event.type = kCollective;  // all its texts are null
  EXPECT_EQ(StartEventV5(context, &handle, &event), 0);
  EXPECT_EQ(StartEventV5(nullptr, &handle, &event), 0);
  EXPECT_EQ(Finalize(context), 0);
  EXPECT_EQ(StartEventV5(context, &handle, &event), 0);  // after its communicator's end
  EXPECT_EQ(Calls().size(), 2U);
}

// Many threads on several communicators.
TEST_F(PluginTest, SurvivesManyThreads) {
  constexpr int kThreads = 6;
  constexpr uint64_t kEach = 4'000;
  ListenAs(wire::WelcomeStatus::kAccepted);
  void* const first = InitV5(0);
  std::vector<std::thread> threads;
  for (uint64_t id = 0; id < kThreads; ++id) {
    threads.emplace_back([this, first, id] {
      int mask = 0;
      void* context = first;
      if (id > 0) nccl::InitV5(&context, id, &mask, "c", 1, 8, 0, nullptr);
      for (uint64_t number = 0; number < kEach; ++number) {
        EventDescriptor event = AllReduce(number);
        void* handle = nullptr;
        StartEventV5(context, &handle, &event);
        StopEvent(handle);
      }
      Finalize(context);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<uint64_t> next(kThreads, 0);
  for (const wire::NcclCallRecord& call : Calls()) {
    ASSERT_LT(call.communicator, uint64_t{kThreads});
    EXPECT_EQ(call.sequence, static_cast<int64_t>(next[call.communicator]++));
  }
  for (const uint64_t seen : next) EXPECT_EQ(seen, kEach);
}

TEST_F(PluginTest, TheMaskMayFlipMeanwhile) {
  ListenAs(wire::WelcomeStatus::kAccepted);
  void* const context = InitV5();
  std::atomic<bool> stop{false};
  std::thread flipper([&] {
    while (!stop.load()) {
      reader().header().capture_mask.fetch_xor(wire::kCaptureNccl);
      std::this_thread::yield();
    }
  });
  constexpr uint64_t kEach = 20'000;
  for (uint64_t number = 0; number < kEach; ++number) {
    EventDescriptor event = AllReduce(number);
    StartEventV5(context, nullptr, &event);
  }
  stop.store(true);
  flipper.join();
  int64_t last = -1;
  for (const wire::NcclCallRecord& call : Calls()) {
    EXPECT_GT(call.sequence, last);
    last = call.sequence;
  }
}

}  // namespace
}  // namespace tutti::tracer::nccl
