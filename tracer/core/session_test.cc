// From candidate to rank, and what must never happen on the way.
#include "tracer/core/session.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tracer/core/note.h"
#include "tracer/testing/rank_fixture.h"

namespace tutti::tracer {
namespace {

using testing::DrainedRecord;
using testing::FakeCollector;
using testing::Mark;
using wire::RecordKind;

size_t CountEntries(const char* directory) {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

class SessionTest : public testing::RankTest {
 protected:
  // Promotes and returns what was said on stderr meanwhile.
  std::string SaidWhilePromoting() {
    ::testing::internal::CaptureStderr();
    EXPECT_FALSE(Promote("test"));
    EXPECT_FALSE(Promote("test"));  // said once
    EXPECT_FALSE(Active());
    return ::testing::internal::GetCapturedStderr();
  }
};

TEST_F(SessionTest, WithoutASessionNothingHappens) {
  ResetForTesting();
  unsetenv("TUTTI_SESSION");
  Configure();
  EXPECT_FALSE(IsCandidate());
  EXPECT_EQ(SaidWhilePromoting(), "");
}

TEST_F(SessionTest, ACandidateHoldsNoDescriptorAndNoThread) {
  FakeCollector collector;
  ResetForTesting();
  setenv("TUTTI_SESSION", collector.session().c_str(), 1);
  const size_t descriptors = CountEntries("/proc/self/fd");
  const size_t threads = CountEntries("/proc/self/task");
  Configure();
  EXPECT_TRUE(IsCandidate());
  EXPECT_EQ(CountEntries("/proc/self/fd"), descriptors);
  EXPECT_EQ(CountEntries("/proc/self/task"), threads);
}

TEST_F(SessionTest, ARankKeepsNoDescriptorEither) {
  Listen();
  const size_t descriptors = CountEntries("/proc/self/fd");
  ASSERT_TRUE(Promote("test"));
  reader();  // its descriptor is the fake collector's
  EXPECT_EQ(CountEntries("/proc/self/fd"), descriptors + 1);
}

TEST_F(SessionTest, PromotionSaysWhoAndWhy) {
  setenv("RANK", "2", 1);
  setenv("WORLD_SIZE", "4", 1);
  setenv("LOCAL_RANK", "0", 1);
  Listen();
  ASSERT_TRUE(Promote("annotate"));
  ASSERT_TRUE(Promote("again"));
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");
  unsetenv("LOCAL_RANK");
  ASSERT_EQ(collector_->hellos().size(), 1u);
  const wire::Hello hello = collector_->hellos()[0];
  EXPECT_EQ(hello.rank, 2);
  EXPECT_EQ(hello.world_size, 4);
  EXPECT_STREQ(hello.reason, "annotate");
  EXPECT_TRUE(Active());
}

TEST_F(SessionTest, OfManyThreadsOnePromotes) {
  Listen();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      Promote("race");
      Entry entry(kCaptureAlways);
      if (entry) entry.Emit(Mark(1));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(Active());
  EXPECT_EQ(collector_->hellos().size(), 1u);
}

TEST_F(SessionTest, AMalformedSessionIsToldInOneLineAndOnlyByAWouldBeRank) {
  ResetForTesting();
  setenv("TUTTI_SESSION", "nonsense", 1);
  ::testing::internal::CaptureStderr();
  Configure();
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(SaidWhilePromoting(), "tutti: process " + std::to_string(getpid()) +
                                      " is not traced: TUTTI_SESSION is not PATH:TOKEN\n");
}

TEST_F(SessionTest, AMissingCollectorIsToldInOneLine) {
  Listen();
  collector_.reset();
  EXPECT_EQ(SaidWhilePromoting(), "tutti: process " + std::to_string(getpid()) +
                                      " is not traced: the collector is gone\n");
}

TEST_F(SessionTest, ARefusalIsToldInTheCollectorsWordsWithoutControlCharacters) {
  FakeCollector::Options options;
  options.status = wire::WelcomeStatus::kRefusedResources;
  options.text = "no memory\x1b[2J\nfor another segment";
  Listen(options);
  EXPECT_EQ(SaidWhilePromoting(),
            "tutti: process " + std::to_string(getpid()) +
                " is not traced: the collector refused it: no memory?[2J?for another segment\n");
}

TEST_F(SessionTest, HelpersAndRanksThatWereNotAskedForAreSilent) {
  for (const auto status : {wire::WelcomeStatus::kHelper, wire::WelcomeStatus::kNotSelected}) {
    FakeCollector::Options options;
    options.status = status;
    Listen(options);
    EXPECT_EQ(SaidWhilePromoting(), "");
    EXPECT_FALSE(IsCandidate());
  }
}

TEST_F(SessionTest, AWrongTokenIsRefused) {
  FakeCollector collector;
  ResetForTesting();
  std::string session = collector.session();
  session.back() = session.back() == '0' ? '1' : '0';
  setenv("TUTTI_SESSION", session.c_str(), 1);
  Configure();
  EXPECT_NE(SaidWhilePromoting(), "");
}

TEST_F(SessionTest, DisablingStopsEverythingAtOnce) {
  BecomeRank();
  EXPECT_TRUE(Entry(kCaptureAlways));
  ::testing::internal::CaptureStderr();
  Disable("a reason");
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("a reason"), std::string::npos);
  EXPECT_FALSE(Entry(kCaptureAlways));
  EXPECT_FALSE(Promote("test"));
}

TEST_F(SessionTest, NotesOfACandidateAreWrittenWhenItIsPromoted) {
  Listen();
  {
    std::string detail = "found in a buffer";
    Note({wire::NoteSeverity::kNotice, "torch", "torch_layout", detail.c_str(), "rebuild"});
    detail.assign("overwritten since");
  }
  ASSERT_TRUE(Promote("test"));
  Note({wire::NoteSeverity::kError, "nvtx", "later", "after promotion", "", 3});
  const std::vector<DrainedRecord> notes = reader().DrainKind(RecordKind::kNote);
  ASSERT_EQ(notes.size(), 2u);
  const auto first = notes[0].As<wire::NoteRecord>();
  EXPECT_EQ(first.header.flags, static_cast<uint16_t>(wire::NoteSeverity::kNotice));
  EXPECT_EQ(reader().String(first.header.name), "torch_layout");
  EXPECT_EQ(reader().String(first.source), "torch");
  EXPECT_EQ(reader().String(first.detail), "found in a buffer");
  EXPECT_EQ(reader().String(first.advice), "rebuild");
  const auto second = notes[1].As<wire::NoteRecord>();
  EXPECT_EQ(second.count, 3u);
  EXPECT_EQ(second.advice, wire::kNoString);
}

int hook_calls = 0;

TEST_F(SessionTest, HooksRunOncePerPromotionWhenRecordingIsOn) {
  static const bool added = [] {
    AddPromotionHook([] {
      if (Entry(kCaptureAlways)) ++hook_calls;
    });
    return true;
  }();
  EXPECT_TRUE(added);
  hook_calls = 0;
  BecomeRank();
  Promote("again");
  EXPECT_EQ(hook_calls, 1);
}

TEST_F(SessionTest, ARankIsNoLongerInItsChildrensPreload) {
  const std::string own = std::filesystem::read_symlink("/proc/self/exe");
  setenv("LD_PRELOAD", (own + ":/lib/libuser.so").c_str(), 1);
  Listen();
  EXPECT_EQ(std::string(getenv("LD_PRELOAD")), own + ":/lib/libuser.so");  // a launcher keeps it
  ASSERT_TRUE(Promote("test"));
  EXPECT_STREQ(getenv("LD_PRELOAD"), "/lib/libuser.so");
  unsetenv("LD_PRELOAD");
}

// Runs |body| in a forked child and returns its exit code.
template <typename Body>
int InChild(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(SessionTest, AForkedChildWritesNothingIntoItsParentsRings) {
  BecomeRank();
  Entry(kCaptureAlways).Emit(Mark(1));
  reader().Drain();
  EXPECT_EQ(InChild([] {
              Entry entry(kCaptureAlways);
              if (entry || Active() || !IsCandidate()) return 1;
              return 0;
            }),
            0);
  EXPECT_TRUE(reader().Drain().empty());
  EXPECT_TRUE(Entry(kCaptureAlways).Emit(Mark(2)));  // the parent goes on
  EXPECT_EQ(reader().Drain().size(), 1u);
}

// clone(2) without the C library: no pthread_atfork handler runs.
TEST_F(SessionTest, ARawClonesChildWritesNothingEither) {
  BecomeRank();
  Entry(kCaptureAlways).Emit(Mark(1));
  reader().Drain();
  const auto child = static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, 0));
  if (child == 0) {
    Entry entry(kCaptureAlways);
    _exit(entry ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(reader().Drain().empty());
}

TEST_F(SessionTest, AChildThatTrainsBecomesARankOfItsOwn) {
  BecomeRank();
  Entry(kCaptureAlways).Emit(Mark(1));
  EXPECT_EQ(InChild([] {
              if (!Promote("child")) return 1;
              Entry entry(kCaptureAlways);
              return entry.Emit(Mark(2)) ? 0 : 2;
            }),
            0);
  const std::vector<DrainedRecord> parents = reader().DrainKind(RecordKind::kMark);
  ASSERT_EQ(parents.size(), 1u);
  EXPECT_EQ(parents[0].As<wire::MarkRecord>().payload, 1u);
  const std::vector<DrainedRecord> of_child = collector_->segment(1).DrainKind(RecordKind::kMark);
  ASSERT_EQ(of_child.size(), 1u);
  EXPECT_EQ(of_child[0].As<wire::MarkRecord>().payload, 2u);
  EXPECT_STREQ(collector_->hellos()[1].reason, "child");
  EXPECT_EQ(collector_->hellos()[1].ppid, getpid());
}

}  // namespace
}  // namespace tutti::tracer
