// What the tracer makes of collectors that are gone, silent, strangers, or lie.
#include "tracer/core/handshake.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "tracer/testing/fake_collector.h"

namespace tutti::tracer {
namespace {

using testing::FakeCollector;
using testing::SendWelcome;
using wire::WelcomeStatus;

size_t OpenDescriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

struct Outcome {
  const char* problem;
  wire::Welcome welcome;
  int file;
};

Outcome Exchange(const FakeCollector& collector, int64_t limit_ns = 20'000'000'000) {
  SessionAddress address;
  EXPECT_EQ(ParseSession(collector.session().c_str(), &address), nullptr);
  wire::Hello hello = MakeHello({}, "test");
  std::memcpy(hello.token, address.token, sizeof(hello.token));
  Outcome outcome{};
  outcome.problem = ExchangeHello(address, hello, limit_ns, &outcome.welcome, &outcome.file);
  return outcome;
}

// A collector whose answer is |answer|, given a welcome that would be right.
using Answer = std::function<void(int connection, wire::Welcome welcome, int file)>;

FakeCollector::Options Answering(Answer answer) {
  FakeCollector::Options options;
  options.answer = [answer](int connection, const wire::Hello&) {
    const wire::SegmentPlan plan = wire::PlanShape(testing::kTestShape);
    wire::Welcome welcome{};
    welcome.magic = wire::kHelloMagic;
    welcome.version = wire::kVersion;
    welcome.status = WelcomeStatus::kAccepted;
    welcome.segment_bytes = plan.segment_bytes;
    const int file = testing::MakeSegmentFile(plan, wire::ClockKind::kTsc, 0);
    answer(connection, welcome, file);
    close(file);
  };
  return options;
}

TEST(MakeHello, SaysWhoWeAre) {
  RankIdentity identity;
  identity.rank = 3;
  identity.world_size = 8;
  std::strcpy(identity.rank_variable, "RANK");
  const wire::Hello hello = MakeHello(identity, "backward");
  EXPECT_EQ(hello.magic, wire::kHelloMagic);
  EXPECT_EQ(hello.version, wire::kVersion);
  EXPECT_EQ(hello.pid, getpid());
  EXPECT_EQ(hello.ppid, getppid());
  EXPECT_GT(hello.start_ticks, 0u);
  EXPECT_EQ(hello.rank, 3);
  EXPECT_EQ(hello.local_rank, -1);
  EXPECT_EQ(hello.world_size, 8);
  EXPECT_STREQ(hello.rank_variable, "RANK");
  EXPECT_EQ(std::string(hello.executable), std::filesystem::read_symlink("/proc/self/exe"));
  EXPECT_STREQ(hello.reason, "backward");
}

TEST(ExchangeHello, GetsASegmentThatMaps) {
  FakeCollector collector;
  const Outcome outcome = Exchange(collector);
  ASSERT_EQ(outcome.problem, nullptr);
  EXPECT_EQ(outcome.welcome.status, WelcomeStatus::kAccepted);
  ASSERT_GE(outcome.file, 0);
  EXPECT_NE(fcntl(outcome.file, F_GETFD) & FD_CLOEXEC, 0);
  MappedSegment mapped{};
  EXPECT_EQ(MapSegment(outcome.file, outcome.welcome.segment_bytes, &mapped), nullptr);
  EXPECT_EQ(mapped.rings[4].capacity_cells, 512u);
  close(outcome.file);
  munmap(mapped.base, mapped.layout.segment_bytes);
}

TEST(ExchangeHello, PassesOnARefusalInItsWords) {
  FakeCollector::Options options;
  options.status = WelcomeStatus::kRefusedResources;
  options.text = "no memory for another segment";
  FakeCollector collector(options);
  const Outcome outcome = Exchange(collector);
  EXPECT_EQ(outcome.problem, nullptr);
  EXPECT_EQ(outcome.welcome.status, WelcomeStatus::kRefusedResources);
  EXPECT_STREQ(outcome.welcome.text, "no memory for another segment");
  EXPECT_EQ(outcome.file, -1);
}

TEST(ExchangeHello, NoticesAnotherVersionByWhatTheRefusalSays) {
  FakeCollector collector(Answering([](int connection, wire::Welcome welcome, int) {
    welcome.status = WelcomeStatus::kRefusedVersion;
    welcome.version = wire::kVersion + 1;
    SendWelcome(connection, welcome, {});
  }));
  const Outcome outcome = Exchange(collector);
  EXPECT_EQ(outcome.problem, nullptr);
  EXPECT_EQ(outcome.welcome.status, WelcomeStatus::kRefusedVersion);
}

TEST(ExchangeHello, ACollectorThatIsGoneIsNoticedAtOnce) {
  std::string session;
  {
    FakeCollector collector;
    session = collector.session();
  }
  SessionAddress address;
  ASSERT_EQ(ParseSession(session.c_str(), &address), nullptr);
  wire::Welcome welcome{};
  int file = 0;
  EXPECT_NE(ExchangeHello(address, MakeHello({}, "test"), 20'000'000'000, &welcome, &file),
            nullptr);
  EXPECT_EQ(file, -1);
}

TEST(ExchangeHello, ACollectorThatHangsUpIsNoticedAtOnce) {
  FakeCollector::Options options;
  options.answer = [](int, const wire::Hello&) {};
  FakeCollector collector(options);
  EXPECT_STREQ(Exchange(collector).problem, "the collector is gone");
}

// SIGSTOP of the collector, or one so loaded that it does not get to answer.
TEST(ExchangeHello, ACollectorThatIsSilentIsGivenUp) {
  std::atomic<bool> stop{false};
  FakeCollector::Options options;
  options.answer = [&](int, const wire::Hello&) {
    while (!stop.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  FakeCollector collector(options);
  EXPECT_STREQ(Exchange(collector, 50'000'000).problem, "the collector does not answer");
  // One that does not even accept: the backlog fills up, then connecting itself must give up.
  std::vector<std::thread> others;
  for (int i = 0; i < 40; ++i) {
    others.emplace_back([&] {
      EXPECT_STREQ(Exchange(collector, 50'000'000).problem, "the collector does not answer");
    });
  }
  for (std::thread& other : others) other.join();
  stop.store(true);
}

TEST(ExchangeHello, RefusesLiesAndLeavesNoDescriptor) {
  const std::vector<Answer> lies = {
      [](int c, wire::Welcome w, int f) {
        w.magic ^= 1;
        SendWelcome(c, w, {f});
      },
      [](int c, wire::Welcome w, int f) {
        w.version += 1;
        SendWelcome(c, w, {f});
      },
      [](int c, wire::Welcome w, int f) {
        w.status = WelcomeStatus(99);
        SendWelcome(c, w, {f});
      },
      [](int c, wire::Welcome w, int) { SendWelcome(c, w, {}); },
      [](int c, wire::Welcome w, int) { send(c, &w, 100, MSG_NOSIGNAL); },
      [](int c, wire::Welcome w, int) {
        char longer[sizeof(w) + 8] = {};
        std::memcpy(longer, &w, sizeof(w));
        send(c, longer, sizeof(longer), MSG_NOSIGNAL);
      },
      [](int c, wire::Welcome w, int f) {
        SendWelcome(c, w, {f, f, f, f, f, f, f, f});
      },
  };
  for (size_t i = 0; i < lies.size(); ++i) {
    const size_t before = OpenDescriptors();
    {
      FakeCollector collector(Answering(lies[i]));
      const Outcome outcome = Exchange(collector);
      EXPECT_NE(outcome.problem, nullptr) << "lie " << i;
      EXPECT_EQ(outcome.file, -1) << "lie " << i;
    }
    EXPECT_EQ(OpenDescriptors(), before) << "lie " << i;
  }
}

// A refusal may come with descriptors, an acceptance with more than one: they are closed.
TEST(ExchangeHello, KeepsNoDescriptorThatItDoesNotNeed) {
  const size_t before = OpenDescriptors();
  {
    FakeCollector collector(Answering([](int connection, wire::Welcome welcome, int file) {
      welcome.status = WelcomeStatus::kHelper;
      SendWelcome(connection, welcome, {file, file});
    }));
    EXPECT_EQ(Exchange(collector).file, -1);
  }
  {
    FakeCollector collector(Answering([](int connection, wire::Welcome welcome, int file) {
      SendWelcome(connection, welcome, {file, file, file});
    }));
    const Outcome outcome = Exchange(collector);
    EXPECT_EQ(outcome.problem, nullptr);
    close(outcome.file);
  }
  EXPECT_EQ(OpenDescriptors(), before);
}

class MapSegmentTest : public ::testing::Test {
 protected:
  // A segment file with |change| made to its header, and |seals|.
  int Make(std::function<void(std::byte*)> change = {},
           int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) {
    const int file = memfd_create("tutti-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(file, static_cast<off_t>(plan_.segment_bytes)), 0);
    auto* base = static_cast<std::byte*>(
        mmap(nullptr, plan_.segment_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    wire::InitializeSegment(base, plan_, wire::ClockKind::kTsc, 0);
    if (change) change(base);
    munmap(base, plan_.segment_bytes);
    if (seals != 0) {
      EXPECT_EQ(fcntl(file, F_ADD_SEALS, seals), 0);
    }
    return file;
  }

  const char* Map(int file, uint64_t bytes) {
    MappedSegment mapped{};
    const char* problem = MapSegment(file, bytes, &mapped);
    if (problem == nullptr) munmap(mapped.base, mapped.layout.segment_bytes);
    close(file);
    return problem;
  }

  wire::RingHeader& Ring(std::byte* base, uint32_t index) {
    return *reinterpret_cast<wire::RingHeader*>(base + plan_.ring_headers_offset +
                                                index * wire::kRingHeaderBytes);
  }

  const wire::SegmentPlan plan_ = wire::PlanShape(testing::kTestShape);
};

TEST_F(MapSegmentTest, MapsASoundOne) { EXPECT_EQ(Map(Make(), plan_.segment_bytes), nullptr); }

// Without these seals a collector could shrink the file, and a store would be a SIGBUS.
TEST_F(MapSegmentTest, RefusesWhatIsNotSealedAgainstResizing) {
  for (const int seals : {0, F_SEAL_SHRINK | F_SEAL_GROW, F_SEAL_GROW | F_SEAL_SEAL}) {
    EXPECT_STREQ(Map(Make({}, seals), plan_.segment_bytes), "the segment is not sealed");
  }
}

TEST_F(MapSegmentTest, RefusesWhatHasAnotherSizeThanWasSaid) {
  EXPECT_NE(Map(Make(), plan_.segment_bytes + wire::kPageBytes), nullptr);
  EXPECT_NE(Map(Make(), plan_.segment_bytes - wire::kPageBytes), nullptr);
  EXPECT_NE(Map(Make(), 0), nullptr);
}

TEST_F(MapSegmentTest, RefusesWhatIsNoFile) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_NE(Map(ends[0], plan_.segment_bytes), nullptr);
  close(ends[1]);
  EXPECT_NE(Map(open("/dev/zero", O_RDWR), plan_.segment_bytes), nullptr);
}

TEST_F(MapSegmentTest, RefusesALyingHeader) {
  EXPECT_NE(Map(Make([](std::byte* base) { std::memset(base, 0xff, 64); }), plan_.segment_bytes),
            nullptr);
  EXPECT_NE(Map(Make([](std::byte* base) { std::memset(base, 0, 64); }), plan_.segment_bytes),
            nullptr);
}

TEST_F(MapSegmentTest, RefusesLyingRings) {
  const auto refuses = [&](auto change) {
    EXPECT_NE(Map(Make([&](std::byte* base) { change(Ring(base, 2)); }), plan_.segment_bytes),
              nullptr);
  };
  refuses([&](wire::RingHeader& ring) { ring.cells_offset = plan_.segment_bytes; });
  refuses([](wire::RingHeader& ring) { ring.cells_offset = 0; });
  refuses([](wire::RingHeader& ring) { ring.capacity_cells = 1u << 31; });
  refuses([](wire::RingHeader& ring) { ring.capacity_cells = 48; });
  refuses([](wire::RingHeader& ring) { ring.size_class = 7; });
}

}  // namespace
}  // namespace tutti::tracer
