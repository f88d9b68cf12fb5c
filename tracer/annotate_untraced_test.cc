// Without a tool in the process, annotate.h must leave no mark on it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstdlib>
#include <filesystem>

#include "tracer/annotate.h"

extern "C" void AnnotateEverythingFromC(void);

namespace {

struct Footprint {
  std::ptrdiff_t descriptors;
  std::ptrdiff_t threads;
  int libraries;
  bool operator==(const Footprint&) const = default;
};

std::ptrdiff_t EntriesIn(const char* directory) {
  return std::distance(std::filesystem::directory_iterator(directory), {});
}

int LoadedLibraries() {
  int count = 0;
  dl_iterate_phdr([](dl_phdr_info*, size_t, void* total) { return ++*static_cast<int*>(total), 0; },
                  &count);
  return count;
}

Footprint Measure() {
  return {EntriesIn("/proc/self/fd"), EntriesIn("/proc/self/task"), LoadedLibraries()};
}

class AnnotateUntraced : public testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("NVTX_INJECTION64_PATH")) GTEST_SKIP() << "an NVTX tool is configured";
  }
};

TEST_F(AnnotateUntraced, LeavesDescriptorsThreadsAndLibrariesAlone) {
  const Footprint before = Measure();
  AnnotateEverythingFromC();
  tutti_step_begin(0);
  tutti_batch(64, 128);
  tutti_counter("loss", 1.0);
  tutti_step_end();
  EXPECT_EQ(Measure(), before);
}

TEST_F(AnnotateUntraced, WritesNothing) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  AnnotateEverythingFromC();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(AnnotateUntraced, ToleratesEndsWithoutBegins) {
  tutti_step_end();
  tutti_phase_end();
  tutti_data_wait_end();
}

TEST(AnnotatePhaseName, CoversEveryPhaseAndNoMore) {
  EXPECT_STREQ(tutti_phase_name(TUTTI_PHASE_FORWARD), "forward");
  EXPECT_STREQ(tutti_phase_name(TUTTI_PHASE_BACKWARD), "backward");
  EXPECT_STREQ(tutti_phase_name(TUTTI_PHASE_OPTIMIZER), "optimizer");
  EXPECT_STREQ(tutti_phase_name(TUTTI_PHASE_CHECKPOINT), "checkpoint");
  EXPECT_STREQ(tutti_phase_name(TUTTI_PHASE_EVALUATION), "evaluation");
  EXPECT_STREQ(tutti_phase_name(TUTTI_PHASE_DATA), "data");
  EXPECT_STREQ(tutti_phase_name(static_cast<tutti_phase>(6)), "unknown");
}

}  // namespace
