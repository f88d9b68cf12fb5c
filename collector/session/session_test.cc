#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "collector/os/files.h"
#include "collector/os/proc.h"
#include "collector/session/packet.h"
#include "collector/session/program_name.h"
#include "collector/session/rank_selector.h"
#include "collector/session/registrar.h"
#include "collector/session/segment.h"
#include "collector/session/session_directory.h"
#include "collector/testing/spool_builder.h"

namespace tutti::collector::session {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kBytes = 4 << 20;

TEST(ProgramName, IsThatOfTheProgramOrOfItsScript) {
  EXPECT_EQ(ProgramName({}), "");
  EXPECT_EQ(ProgramName({"build/mnist_mlp", "--steps", "3"}), "mnist_mlp");
  EXPECT_EQ(ProgramName({"/usr/bin/python3.11", "-u", "samples/ddp.py", "x.py"}), "ddp.py");
  EXPECT_EQ(ProgramName({"python", "-X", "dev", "-Wignore", "train.py"}), "train.py");
  EXPECT_EQ(ProgramName({"python3", "-m", "torch.distributed.run", "a.py"}),
            "torch.distributed.run");
  EXPECT_EQ(ProgramName({"python3", "-c", "secret = 1"}), "python3");
  EXPECT_EQ(ProgramName({"python3"}), "python3");
  EXPECT_EQ(ProgramName({"python-helper", "x.py"}), "python-helper");
}

TEST(ProgramName, ComesFromTheTextOfProc) {
  using ::testing::ElementsAre;
  EXPECT_THAT(SplitCommandLine(std::string_view("a\0\0b c\0", 7)), ElementsAre("a", "", "b c"));
  EXPECT_THAT(SplitCommandLine("cut off"), ElementsAre("cut off"));
  EXPECT_TRUE(SplitCommandLine("").empty());
}

TEST(Segment, CanNeitherGrowNorShrinkNorBeSealedFurther) {
  const auto segment = Segment::Make(kBytes, wire::ClockKind::kTsc, 7);
  ASSERT_TRUE(segment.ok()) << segment.status().message();
  EXPECT_NE(::ftruncate(segment->memfd(), 0), 0);
  EXPECT_EQ(errno, EPERM);
  EXPECT_NE(::ftruncate(segment->memfd(), 1 << 30), 0);
  EXPECT_NE(::fcntl(segment->memfd(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_NE(::fcntl(segment->memfd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Segment, IsWhatATracerAccepts) {
  const auto segment = Segment::Make(kBytes, wire::ClockKind::kMonotonicRaw, 5);
  ASSERT_TRUE(segment.ok());
  struct stat info;
  ASSERT_EQ(::fstat(segment->memfd(), &info), 0);
  const auto bytes = static_cast<uint64_t>(info.st_size);
  EXPECT_LE(bytes, kBytes);
  const wire::SegmentLayout layout = wire::ReadLayout(segment->header());
  EXPECT_EQ(wire::LayoutProblem(layout, bytes), nullptr);
  EXPECT_EQ(layout.clock_kind, wire::ClockKind::kMonotonicRaw);
  EXPECT_EQ(segment->header().capture_mask.load(), 5U);
}

TEST(Segment, AttachedItIsTheSameMemory) {
  const auto made = Segment::Make(kBytes, wire::ClockKind::kTsc, 7);
  ASSERT_TRUE(made.ok());
  const auto attached =
      Segment::Attach(os::FileDescriptor(::fcntl(made->memfd(), F_DUPFD_CLOEXEC, 0)), kBytes);
  ASSERT_TRUE(attached.ok());
  made->ring(3).head.store(77);
  EXPECT_EQ(attached->ring(3).head.load(), 77U);
  EXPECT_FALSE(
      Segment::Attach(os::FileDescriptor(::fcntl(made->memfd(), F_DUPFD_CLOEXEC, 0)), 2 * kBytes)
          .ok());
}

// The process overwrites the ring header's own account of where its cells are.
TEST(Segment, PlacesOfCellsComeFromOurOwnPlan) {
  const auto segment = Segment::Make(kBytes, wire::ClockKind::kTsc, 7);
  ASSERT_TRUE(segment.ok());
  const auto before = segment->cells(2);
  segment->ring(2).cells_offset = 1ULL << 60;
  segment->ring(2).capacity_cells = 0;
  EXPECT_EQ(segment->cells(2).data(), before.data());
  EXPECT_EQ(segment->cells(2).size(), before.size());
}

TEST(Segment, ImpossibleSizesAreRefused) {
  EXPECT_EQ(Segment::Make(1000, wire::ClockKind::kTsc, 7).status().code(), StatusCode::kUsage);
  EXPECT_EQ(Segment::Make(1ULL << 50, wire::ClockKind::kTsc, 7).status().code(),
            StatusCode::kUsage);
}

TEST(SessionDirectory, IsPrivateAndGoesAway) {
  const testing::TemporaryDirectory runtime;
  ::setenv("XDG_RUNTIME_DIR", runtime.path().c_str(), 1);
  const auto session = SessionDirectory::Make();
  ASSERT_TRUE(session.ok()) << session.status().message();
  EXPECT_THAT(session->path(), HasSubstr(runtime.path() + "/tutti/"));
  EXPECT_EQ(session->token().size(), 32U);
  struct stat info;
  ASSERT_EQ(::stat(session->path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  const auto listener = session->Listen();
  ASSERT_TRUE(listener.ok());
  RemoveSessionDirectory(session->path());
  EXPECT_NE(::stat(session->path().c_str(), &info), 0);
}

TEST(SessionDirectory, ARuntimeDirectoryThatOthersCanEnterIsNotUsed) {
  const testing::TemporaryDirectory runtime;
  ASSERT_EQ(::mkdir((runtime.path() + "/tutti").c_str(), 0700), 0);
  ASSERT_EQ(::chmod((runtime.path() + "/tutti").c_str(), 0777), 0);
  ::setenv("XDG_RUNTIME_DIR", runtime.path().c_str(), 1);
  const auto session = SessionDirectory::Make();
  ASSERT_TRUE(session.ok());
  EXPECT_TRUE(session->path().starts_with("/tmp/tutti-"));
  RemoveSessionDirectory(session->path());
}

TEST(Packet, CarriesBytesAndDescriptors) {
  auto pair = MakeSocketPair();
  ASSERT_TRUE(pair.ok());
  const char text[] = "hello";
  EXPECT_FALSE(
      ReceivePacket(pair->second.get(), std::as_writable_bytes(std::span<char>())).has_value());
  ASSERT_EQ(SendPacket(pair->first.get(), std::as_bytes(std::span(text)), {1, 2}),
            SendResult::kSent);
  char buffer[64] = {};
  auto packet = ReceivePacket(pair->second.get(), std::as_writable_bytes(std::span(buffer)));
  ASSERT_TRUE(packet.has_value());
  EXPECT_EQ(packet->bytes, sizeof(text));
  ASSERT_EQ(packet->descriptors.size(), 2U);
  EXPECT_NE(::fcntl(packet->descriptors[0].get(), F_GETFD) & FD_CLOEXEC, 0);
  pair->first.Reset();
  packet = ReceivePacket(pair->second.get(), std::as_writable_bytes(std::span(buffer)));
  ASSERT_TRUE(packet.has_value());
  EXPECT_EQ(packet->bytes, 0U);
  EXPECT_EQ(SendPacket(pair->second.get(), std::as_bytes(std::span(text))), SendResult::kGone);
}

TEST(Packet, AFullSocketDoesNotBlock) {
  const auto pair = MakeSocketPair();
  const std::vector<std::byte> bytes(4096);
  SendResult result = SendResult::kSent;
  for (int sent = 0; sent < 10'000 && result == SendResult::kSent; ++sent) {
    result = SendPacket(pair->first.get(), bytes);
  }
  EXPECT_EQ(result, SendResult::kWouldBlock);
}

bool Selects(const char* list, int32_t rank, int32_t local_rank = -1, int32_t size = -1) {
  const auto selector = RankSelector::Parse(list);
  EXPECT_TRUE(selector.ok()) << list;
  return selector.ok() && selector->Selects(rank, local_rank, size);
}

TEST(RankSelector, UnderstandsItsForms) {
  EXPECT_TRUE(RankSelector().Selects(5, 5, 8));
  EXPECT_TRUE(Selects("0,8-15", 0));
  EXPECT_TRUE(Selects("0,8-15", 12));
  EXPECT_FALSE(Selects("0,8-15", 7));
  EXPECT_FALSE(Selects("0,8-15", 16));
  EXPECT_TRUE(Selects("local0", 16, 0));
  EXPECT_FALSE(Selects("local0", 16, 1));
  EXPECT_TRUE(Selects("3", -1));  // not known yet
  for (const char* bad : {"", ",", "1,", "a", "5-2", "-3", "local", "localx", "sample:0",
                          "sample:", "sample:x", "1;2"}) {
    EXPECT_FALSE(RankSelector::Parse(bad).ok()) << bad;
  }
}

TEST(RankSelector, SamplesExactlyThatManySpreadEvenly) {
  for (const int32_t size : {1, 7, 8, 16, 100, 1000}) {
    int selected = 0;
    for (int32_t rank = 0; rank < size; ++rank) selected += Selects("sample:8", rank, -1, size);
    EXPECT_EQ(selected, std::min(size, 8)) << "of " << size;
    EXPECT_TRUE(Selects("sample:8", 0, -1, size));
  }
}

// Our own process plays the tracers.
class RegistrarTest : public ::testing::Test {
 protected:
  RegistrarTest() {
    ::setenv("XDG_RUNTIME_DIR", runtime_.path().c_str(), 1);
    session_.emplace(std::move(*SessionDirectory::Make()));
    listener_ = std::move(*session_->Listen());
    settings_.token = session_->token();
    settings_.segment_bytes = kBytes;
  }
  ~RegistrarTest() override { RemoveSessionDirectory(session_->path()); }

  wire::Hello Hello(int32_t rank = 0) const {
    wire::Hello hello{};
    hello.magic = wire::kHelloMagic;
    hello.version = wire::kVersion;
    hello.pid = ::getpid();
    hello.rank = rank;
    hello.world_size = 4;
    hello.local_rank = -1;
    for (size_t byte = 0; byte < sizeof(hello.token); ++byte) {
      hello.token[byte] =
          static_cast<uint8_t>(std::stoi(session_->token().substr(2 * byte, 2), nullptr, 16));
    }
    return hello;
  }
  void ItsChildSays(const std::vector<wire::Hello>& hellos);
  os::FileDescriptor Connect() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, session_->socket_path().c_str());
    os::FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return socket;
  }
  Registrar& registrar() {
    if (!registrar_) {
      registrar_.emplace(
          settings_, [this](Registration admitted) { admitted_.push_back(std::move(admitted)); });
    }
    return *registrar_;
  }
  // The answer to |bytes|; absent if the connection is closed without one.
  std::optional<wire::Welcome> Ask(std::span<const std::byte> bytes,
                                   size_t* descriptors = nullptr) {
    const os::FileDescriptor socket = Connect();
    EXPECT_EQ(SendPacket(socket.get(), bytes), SendResult::kSent);
    registrar().Accept(listener_.get());
    registrar().HandleWaiting();
    wire::Welcome welcome;
    const auto packet = ReceivePacket(socket.get(), std::as_writable_bytes(std::span(&welcome, 1)));
    if (!packet || packet->bytes != sizeof(welcome)) return std::nullopt;
    if (descriptors != nullptr) *descriptors = packet->descriptors.size();
    return welcome;
  }
  std::optional<wire::Welcome> Ask(const wire::Hello& hello, size_t* descriptors = nullptr) {
    return Ask(std::as_bytes(std::span(&hello, 1)), descriptors);
  }
  wire::WelcomeStatus StatusOf(const wire::Hello& hello) { return Ask(hello).value().status; }

  testing::TemporaryDirectory runtime_;
  std::optional<SessionDirectory> session_;
  os::FileDescriptor listener_;
  RegistrarSettings settings_;
  std::optional<Registrar> registrar_;
  std::vector<Registration> admitted_;
};

TEST_F(RegistrarTest, LetsARankInAndHandsItsSegmentOverTwice) {
  size_t descriptors = 0;
  const auto welcome = Ask(Hello(3), &descriptors);
  ASSERT_TRUE(welcome.has_value());
  EXPECT_EQ(welcome->status, wire::WelcomeStatus::kAccepted);
  EXPECT_EQ(descriptors, 1U);
  ASSERT_EQ(admitted_.size(), 1U);
  const Registration& admitted = admitted_[0];
  EXPECT_EQ(admitted.process.hello.rank, 3);
  EXPECT_EQ(admitted.process.peer_pid, ::getpid());
  EXPECT_EQ(admitted.process.start_ticks, os::ReadProcessStat(::getpid())->start_ticks);
  EXPECT_TRUE(admitted.pidfd.valid());
  struct stat info;
  ASSERT_EQ(::fstat(admitted.memfd.get(), &info), 0);
  EXPECT_EQ(static_cast<uint64_t>(info.st_size), welcome->segment_bytes);
  for (const uint8_t byte : admitted.process.hello.token) EXPECT_EQ(byte, 0);  // not spooled
}

TEST_F(RegistrarTest, RefusesWrongTokensAndVersionsInWords) {
  wire::Hello hello = Hello();
  hello.token[15] ^= 1;
  auto welcome = Ask(hello);
  EXPECT_EQ(welcome->status, wire::WelcomeStatus::kRefusedToken);
  EXPECT_THAT(welcome->text, HasSubstr("token"));
  hello = Hello();
  hello.version = 99;
  welcome = Ask(hello);
  EXPECT_EQ(welcome->status, wire::WelcomeStatus::kRefusedVersion);
  EXPECT_EQ(welcome->version, wire::kVersion);
  EXPECT_THAT(welcome->text, HasSubstr("99"));
  EXPECT_TRUE(admitted_.empty());
}

TEST_F(RegistrarTest, WhatIsNoTracerGetsNoAnswer) {
  const char text[] = "GET / HTTP/1.1";
  EXPECT_FALSE(Ask(std::as_bytes(std::span(text))).has_value());
  wire::Hello hello = Hello();
  hello.magic = 1;
  EXPECT_FALSE(Ask(hello).has_value());
  EXPECT_TRUE(registrar().waiting().empty());
}

TEST_F(RegistrarTest, ASilentConnectionIsKeptNotWaitedFor) {
  const os::FileDescriptor socket = Connect();
  registrar().Accept(listener_.get());
  registrar().HandleWaiting();
  EXPECT_EQ(registrar().waiting().size(), 1U);
  EXPECT_EQ(StatusOf(Hello()), wire::WelcomeStatus::kAccepted);  // others are served
}

TEST_F(RegistrarTest, AProcessThatStoppedWaitingIsCountedNotRecorded) {
  const wire::Hello hello = Hello(0);
  {
    const os::FileDescriptor socket = Connect();
    ASSERT_EQ(SendPacket(socket.get(), std::as_bytes(std::span(&hello, 1))), SendResult::kSent);
  }
  registrar().Accept(listener_.get());
  registrar().HandleWaiting();
  EXPECT_EQ(registrar().gave_up(), 1U);
  EXPECT_EQ(registrar().accepted(), 0U);
  EXPECT_TRUE(admitted_.empty());
}

TEST_F(RegistrarTest, RanksThatAreNotWantedAreSentAway) {
  settings_.ranks = *RankSelector::Parse("1-2");
  EXPECT_EQ(StatusOf(Hello(0)), wire::WelcomeStatus::kNotSelected);
  EXPECT_EQ(StatusOf(Hello(2)), wire::WelcomeStatus::kAccepted);
}

// The process that was let in has a child that says |hellos|, one after the other.
void RegistrarTest::ItsChildSays(const std::vector<wire::Hello>& hellos) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::vector<os::FileDescriptor> connections;
    for (const wire::Hello& hello : hellos) {
      connections.push_back(Connect());
      SendPacket(connections.back().get(), std::as_bytes(std::span(&hello, 1)));
    }
    char unused;
    (void)!::read(pipe[0], &unused, 1);  // lives until it was looked at
    ::_exit(0);
  }
  for (int tries = 0; tries < 400 && admitted_.size() < 2; ++tries) {
    ::usleep(5'000);
    registrar().Accept(listener_.get());
    registrar().HandleWaiting();
  }
  (void)!::write(pipe[1], "x", 1);
  ::waitpid(child, nullptr, 0);
}

TEST_F(RegistrarTest, ADescendantWithItsAncestorsRankIsAHelper) {
  EXPECT_EQ(StatusOf(Hello(0)), wire::WelcomeStatus::kAccepted);
  ItsChildSays({Hello(0), Hello(1)});
  // The child was let in once: as rank 1, not as a second rank 0.
  ASSERT_EQ(admitted_.size(), 2U);
  EXPECT_EQ(admitted_[1].process.hello.rank, 1);
}

// A script that starts the other ranks itself; its children learn their ranks as arguments.
TEST_F(RegistrarTest, ADescendantThatDoesNotKnowItsRankIsARankOfItsOwn) {
  EXPECT_EQ(StatusOf(Hello(-1)), wire::WelcomeStatus::kAccepted);
  ItsChildSays({Hello(-1)});
  ASSERT_EQ(admitted_.size(), 2U);
  EXPECT_EQ(admitted_[1].process.hello.rank, -1);
}

TEST_F(RegistrarTest, AskingAgainAndAgainEnds) {
  settings_.max_segments_per_process = 2;
  EXPECT_EQ(StatusOf(Hello(0)), wire::WelcomeStatus::kAccepted);
  EXPECT_EQ(StatusOf(Hello(0)), wire::WelcomeStatus::kAccepted);  // as after an exec
  EXPECT_EQ(StatusOf(Hello(0)), wire::WelcomeStatus::kRefusedResources);
}

}  // namespace
}  // namespace tutti::collector::session
