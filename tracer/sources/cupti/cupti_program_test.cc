// The whole way of GPU events without a GPU: the library is called as the driver would call it,
// finds a libcupti, and writes what that records into a segment. The program is
// testing/cupti_program.cc.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "tracer/testing/child.h"
#include "tracer/testing/fake_collector.h"

namespace tutti::tracer::cupti {
namespace {

using testing::DrainedRecord;
using wire::RecordKind;

constexpr wire::SegmentShape kShape = {1024, 1u << 18, {{4, 1024}, {2, 262144}}};

class CuptiProgram : public ::testing::Test {
 protected:
  void Run(const std::string& what, const std::string& fake = "", uint32_t capture_mask = ~0U) {
    testing::FakeCollector::Options options;
    options.shape = kShape;
    options.capture_mask = capture_mask;
    collector_ = std::make_unique<testing::FakeCollector>(options);
    testing::Environment environment =
        testing::TracedEnvironment(TUTTI_TRACER_LIBRARY, collector_->session());
    environment.push_back({"TUTTI_CUPTI_LIBRARY", TUTTI_FAKE_CUPTI});
    environment.push_back({"TUTTI_FAKE_CUPTI", fake});
    const testing::ChildResult result = testing::RunChild({TUTTI_CUPTI_PROGRAM, what}, environment);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.output, "");
  }

  struct Activity {
    wire::ActivityRecord record;
    int kind;
    std::string name;
    std::vector<std::byte> bytes;
  };
  std::vector<Activity> Activities(size_t process = 0) {
    std::vector<Activity> found;
    drained_ = collector_->segment(process).Drain();
    for (const DrainedRecord& record : drained_) {
      if (record.kind() != RecordKind::kActivity) continue;
      Activity activity;
      activity.record = record.As<wire::ActivityRecord>();
      activity.name = collector_->segment(process).String(activity.record.header.name);
      const std::byte* data = record.bytes.data() + sizeof(wire::ActivityRecord);
      activity.bytes.assign(data, data + activity.record.bytes);
      std::memcpy(&activity.kind, data, sizeof(activity.kind));
      found.push_back(std::move(activity));
    }
    return found;
  }
  std::map<int, int> CountByKind() {
    std::map<int, int> counts;
    for (const Activity& activity : Activities()) ++counts[activity.kind];
    return counts;
  }
  // "code: detail" of each note; after Activities() of the same process.
  std::vector<std::string> Notes(size_t process = 0) {
    if (drained_.empty()) drained_ = collector_->segment(process).Drain();
    std::vector<std::string> notes;
    for (const DrainedRecord& record : drained_) {
      if (record.kind() != RecordKind::kNote) continue;
      const auto note = record.As<wire::NoteRecord>();
      notes.push_back(collector_->segment(process).String(note.header.name) + ": " +
                      collector_->segment(process).String(note.detail));
      counts_.push_back(note.count);
    }
    return notes;
  }

  static constexpr int kKernelKind = 10;
  static constexpr int kRuntimeKind = 5;

  std::unique_ptr<testing::FakeCollector> collector_;
  std::vector<DrainedRecord> drained_;
  std::vector<uint64_t> counts_;
};

TEST_F(CuptiProgram, HandsOnEachKindWithItsTexts) {
  Run("each");
  std::map<int, std::vector<std::string>> names;
  for (const Activity& activity : Activities()) {
    names[activity.kind].push_back(activity.name);
    EXPECT_EQ(activity.record.cupti_version / 10'000, 13U);
  }
  const std::map<int, std::vector<std::string>> expected = {
      {8, {"Fake GPU"}},
      {9, {""}},
      {37, {"", "", ""}},
      {kRuntimeKind, {"cudaLaunchKernel_v7000"}},
      {kKernelKind, {"_Z4gemmPfS_i", "node", "node", "node"}},
      {1, {""}},
      {2, {""}},
      {38, {""}},
      {17, {""}}};
  EXPECT_EQ(names, expected);
  EXPECT_EQ(Notes(), std::vector<std::string>());
}

TEST_F(CuptiProgram, StartsWhenCudaComesLater) {
  Run("late");
  EXPECT_EQ(CountByKind()[kKernelKind], 4);
}

TEST_F(CuptiProgram, ACandidateLeavesNothingBehind) {
  Run("candidate");
  EXPECT_TRUE(collector_->hellos().empty());
}

// More than a ring of the smallest class holds, and several buffers.
TEST_F(CuptiProgram, LosesNothingOfMany) {
  Run("many");
  const auto counts = CountByKind();
  EXPECT_EQ(counts.at(kKernelKind), 20'000);
  EXPECT_EQ(counts.at(kRuntimeKind), 20'000);
  EXPECT_EQ(Notes(), std::vector<std::string>());
}

TEST_F(CuptiProgram, TakesBuffersOfSeveralThreads) {
  Run("threads");
  EXPECT_EQ(CountByKind()[kKernelKind], 20'000);
}

TEST_F(CuptiProgram, TakesBuffersInAnyOrder) {
  Run("many", "swap");
  EXPECT_EQ(CountByKind()[kKernelKind], 20'000);
}

TEST_F(CuptiProgram, FlushesWhileTheProgramRuns) {
  Run("killed");  // which ends by _exit
  EXPECT_EQ(CountByKind()[kKernelKind], 100);
}

TEST_F(CuptiProgram, TellsWhatCuptiDropped) {
  Run("many", "drop=123");
  EXPECT_EQ(Activities().size(), 40'000U - 123U);
  ASSERT_EQ(Notes().size(), 1U);
  EXPECT_EQ(Notes()[0].substr(0, 20), "gpu_records_dropped:");
  EXPECT_EQ(counts_.at(0), 123U);
}

TEST_F(CuptiProgram, AnotherSubscriberIsNamedAndTrainingGoesOn) {
  Run("each", "subscribe=39,subscriber=CUPTI for Nsight Systems");
  EXPECT_EQ(Activities().size(), 0U);
  EXPECT_EQ(Notes(), std::vector<std::string>{"gpu_not_traced: the GPU is not traced: another tool "
                                              "has CUPTI: CUPTI for Nsight Systems (error 39)"});
}

TEST_F(CuptiProgram, MissingPermissionIsSaidWithItsRemedy) {
  Run("each", "enable=35,enable_kind=10");
  EXPECT_EQ(Activities().size(), 0U);
  const auto notes = Notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("this user may not profile the GPU"), std::string::npos) << notes[0];
}

TEST_F(CuptiProgram, AKindThatCantBeHadLeavesTheOthers) {
  Run("each", "enable=2,enable_kind=38");
  const auto counts = CountByKind();
  EXPECT_EQ(counts.at(kKernelKind), 4);
  EXPECT_FALSE(counts.contains(38));
  ASSERT_EQ(Notes().size(), 1U);
  EXPECT_EQ(Notes()[0].substr(0, 17), "gpu_kind_missing:");
}

TEST_F(CuptiProgram, AnOldCuptiIsNotUsed) {
  Run("each", "version=18");
  EXPECT_EQ(Notes(), std::vector<std::string>{"gpu_not_traced: the GPU is not traced: libcupti is "
                                              "older than CUDA 12.4"});
}

// The fake hangs for ever, so the program's end is that of the wait.
TEST_F(CuptiProgram, AHangInTheLastFlushEndsAtItsDeadline) {
  Run("wait", "hang");
  const auto notes = Notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].substr(0, 18), "gpu_flush_timeout:");
}

TEST_F(CuptiProgram, WithoutItsBitNothingIsAsked) {
  Run("each", "", ~wire::kCaptureCupti);
  EXPECT_EQ(Activities().size(), 0U);
  EXPECT_EQ(Notes(), std::vector<std::string>());
}

// The child is a rank of its own, without the parent's threads and without a GPU.
TEST_F(CuptiProgram, AForkedChildDoesNotWaitForTheParentsGpu) {
  Run("fork");
  EXPECT_EQ(CountByKind()[kKernelKind], 10);
  EXPECT_EQ(Notes(), std::vector<std::string>());
  EXPECT_EQ(Activities(1).size(), 0U);
  EXPECT_FALSE(drained_.empty());                   // its step
  EXPECT_EQ(Notes(1), std::vector<std::string>());  // no deadline passed
}

}  // namespace
}  // namespace tutti::tracer::cupti
