// SIGKILL at a random moment: what was published is there, and of each thread at most the
// one event that it was writing is not.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "tracer/testing/child.h"
#include "tracer/testing/emitter.h"
#include "tracer/testing/fake_collector.h"

namespace tutti::tracer::testing {
namespace {

using wire::LossReason;
using wire::RecordKind;

constexpr int kKills = 100;  // of each of the two shapes
constexpr uint32_t kThreads = 3;

class Progress {
 public:
  Progress() : file_(memfd_create("progress", 0)) {  // inherited: no close-on-exec
    if (ftruncate(file_, sizeof(EmitterProgress)) != 0) std::abort();
    void* memory = mmap(nullptr, sizeof(EmitterProgress), PROT_READ, MAP_SHARED, file_, 0);
    state_ = static_cast<const EmitterProgress*>(memory);
  }
  ~Progress() {
    munmap(const_cast<EmitterProgress*>(state_), sizeof(EmitterProgress));
    close(file_);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  int file() const { return file_; }
  const EmitterProgress::Thread& thread(uint32_t index) const { return state_->threads[index]; }
  bool AllEmit() const {
    for (uint32_t i = 0; i < kThreads; ++i) {
      if (thread(i).finished.load() == 0) return false;
    }
    return true;
  }

 private:
  int file_;
  const EmitterProgress* state_;
};

// What came out of the rings for one thread.
struct Received {
  std::vector<bool> seen;  // by sequence number
  bool twice = false;
  uint64_t last = 0;
  uint64_t marks = 0;
  uint64_t told_losses = 0;
};

class KillTest : public ::testing::Test {
 protected:
  void Drain(SegmentReader& reader) {
    for (const DrainedRecord& record : reader.Drain()) {
      Received& received = received_[record.tid];
      if (record.kind() == RecordKind::kMark) {
        const uint64_t sequence = record.As<wire::MarkRecord>().payload;
        if (sequence >= received.seen.size()) received.seen.resize(2 * sequence + 1);
        received.twice = received.twice || received.seen[sequence];
        received.seen[sequence] = true;
        received.last = std::max(received.last, sequence);
        ++received.marks;
      } else if (record.kind() == RecordKind::kLoss) {
        received.told_losses += record.As<wire::LossRecord>().count;
      }
    }
  }

  // Starts an emitter, drains while it runs, kills it after |delay|, drains the rest.
  void KillOne(const wire::SegmentShape& shape, std::chrono::microseconds delay) {
    FakeCollector collector(FakeCollector::Options{.shape = shape});
    Progress progress;
    received_.clear();
    const pid_t child =
        StartChild({TUTTI_EMITTER, std::to_string(kThreads), std::to_string(progress.file())},
                   {{"TUTTI_SESSION", collector.session()}});
    SegmentReader& reader = collector.segment();
    while (!progress.AllEmit()) Drain(reader);
    const auto deadline = std::chrono::steady_clock::now() + delay;
    while (std::chrono::steady_clock::now() < deadline) Drain(reader);
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the emitter ended by itself: " << status;
    Drain(reader);
    for (uint32_t i = 0; i < kThreads; ++i) CheckThread(reader, progress.thread(i));
  }

  void CheckThread(SegmentReader& reader, const EmitterProgress::Thread& thread) {
    const uint32_t tid = thread.tid.load();
    const Received& received = received_[tid];
    uint64_t lost = 0;
    size_t open_spans = 0;
    for (uint32_t ring = 0; ring < reader.ring_count(); ++ring) {
      if (reader.ring(ring).tid.load() != tid) continue;
      lost += reader.ring(ring).lost[static_cast<uint32_t>(LossReason::kRingFull)].count.load();
      for (const wire::OpenSpan& span : reader.OpenSpans(ring)) {
        if (span.identity == kEmitterSpan) ++open_spans;
      }
    }
    EXPECT_FALSE(received.twice) << "an event came twice";
    const uint64_t accounted = received.marks + lost;
    EXPECT_GE(accounted, thread.finished.load());
    EXPECT_LE(accounted, thread.started.load());
    EXPECT_LE(thread.started.load() - thread.finished.load(), 1u);
    EXPECT_LE(received.told_losses, lost);
    EXPECT_LT(received.last, thread.started.load());
    EXPECT_GE(open_spans, 1u) << "what it was inside is not visible";
    EXPECT_LE(open_spans, 2u) << "killed between the two steps of a move to a larger ring";
    total_lost_ += lost;
    total_marks_ += received.marks;
  }

  void KillMany(const wire::SegmentShape& shape) {
    std::mt19937 random(20240731);
    std::uniform_int_distribution<int> delay_us(0, 3000);
    for (int i = 0; i < kKills && !HasFailure(); ++i) {
      SCOPED_TRACE("kill " + std::to_string(i));
      KillOne(shape, std::chrono::microseconds(delay_us(random)));
    }
  }

  std::map<uint32_t, Received> received_;
  uint64_t total_lost_ = 0;
  uint64_t total_marks_ = 0;
};

TEST_F(KillTest, NothingThatWasPublishedIsLost) {
  KillMany({1024, 1u << 16, {{4, 1u << 13}}});
  EXPECT_GT(total_marks_, 100'000u);
}

// Rings that overflow and threads that move to larger ones: the counts are exact all the same.
TEST_F(KillTest, LossesAreCountedExactlyToTheEnd) {
  KillMany({1024, 1u << 16, {{4, 64}, {2, 256}, {1, 1024}}});
  EXPECT_GT(total_marks_, 10'000u);
  EXPECT_GT(total_lost_, 1'000u);
}

}  // namespace
}  // namespace tutti::tracer::testing
