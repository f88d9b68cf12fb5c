// A training job whose GPU is a script: each step takes 10 ms, and its GPU does what
// gpu_job.h says, recorded by the fake libcupti as a real one would. The test knows the report's
// numbers by hand.
#include "tests/e2e/gpu_job.h"

#include <time.h>

#include <cstdlib>
#include <cstring>

#include "tracer/annotate.h"
#include "tracer/sources/cupti/testing/fake_cupti.h"

namespace {

using namespace tutti::fake_cupti;  // NOLINT(google-build-using-namespace): its script
using namespace tutti::e2e;         // NOLINT(google-build-using-namespace)

int64_t MonotonicNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Waits without giving the core away: a sleep would end anywhere.
void WaitUntilNs(int64_t until_ns) {
  while (MonotonicNs() < until_ns) {
  }
}

// How many ticks of the tool's clock a microsecond has.
double TicksPerUs() {
  const int64_t begin_ns = MonotonicNs();
  const uint64_t begin = Now();
  WaitUntilNs(begin_ns + 50'000'000);
  const int64_t end_ns = MonotonicNs();
  return static_cast<double>(Now() - begin) / (static_cast<double>(end_ns - begin_ns) / 1e3);
}

class Step {
 public:
  Step(double ticks_per_us, uint32_t first_correlation)
      : ticks_per_us_(ticks_per_us), correlation_(first_correlation), begin_(Now()) {}

  uint64_t At(double us) const { return begin_ + static_cast<uint64_t>(us * ticks_per_us_); }

  void Kernel(const char* name, const Work& where, const Span& span) {
    Work work = where;
    work.name = name;
    work.begin = At(span.begin_us);
    work.end = At(span.end_us);
    work.correlation = Launch(span.begin_us);
    AddKernel(work);
  }
  void Copy(const Span& span, uint64_t bytes) {
    AddCopyToDevice({"", kCopyStream, At(span.begin_us), At(span.end_us), Launch(span.begin_us), 0},
                    bytes);
  }
  void Graph(const Span* nodes, uint64_t count) {
    const uint32_t correlation = Launch(nodes[0].begin_us);
    for (uint64_t node = 0; node < count; ++node) {
      AddKernel({"graph_node", kComputeStream, At(nodes[node].begin_us), At(nodes[node].end_us),
                 correlation, node + 1});
    }
  }

 private:
  // The host launches 100 us ahead.
  uint32_t Launch(double begin_us) {
    AddApiCall(LaunchCallback(), At(begin_us - 100), At(begin_us - 95), ++correlation_);
    return correlation_;
  }

  double ticks_per_us_;
  uint32_t correlation_;
  uint64_t begin_;
};

void RunStep(int64_t number, double ticks_per_us) {
  const int64_t begin_ns = MonotonicNs();
  tutti_step_begin(number);
  Step step(ticks_per_us, static_cast<uint32_t>(number) * 100);
  tutti_batch(32, 0);
  WaitUntilNs(begin_ns + static_cast<int64_t>(kStepUs * 1'000));
  step.Kernel("_Z4gemmPfS_i", {"", kComputeStream, 0, 0, 0, 0}, kGemm);
  step.Kernel("_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
              {"", kNcclStream, 0, 0, 0, 0}, kAllReduce);
  step.Copy(kHiddenCopy, kCopyBytes);
  step.Copy(kExposedCopy, kCopyBytes);
  step.Graph(kGraphNodes, kGraphNodeCount);
  tutti_step_end();
}

}  // namespace

int main() {
  InitializeDriver();
  tutti_step_begin(-1);  // makes it a rank: from here on there is a clock
  tutti_step_end();
  AddDevice();
  const double ticks_per_us = TicksPerUs();
  if (ticks_per_us <= 0) return 1;
  for (int64_t number = 0; number < kSteps; ++number) RunStep(number, ticks_per_us);
  return 0;
}
