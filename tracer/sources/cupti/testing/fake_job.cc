// A GPU for a job that has none and knows nothing of it: preloaded into a rank, the fake libcupti
// has a thread that works as a training's GPU would, 500 times a second, until the job ends.
// TUTTI_FAKE_GPU_TRUTH, with the rank behind it, names the file that then tells what was recorded.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tracer/sources/cupti/testing/fake_cupti.h"

namespace tutti::fake_cupti {
namespace {

constexpr char kGemm[] = "_Z4gemmPfS_i";
constexpr char kAllReduce[] =
    "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE";

void SleepMs(int64_t ms) {
  const timespec pause{0, ms * 1'000'000};
  nanosleep(&pause, nullptr);
}

// One iteration's work, placed in the time since the last one: two thirds of it compute, the
// last of these overlapped by communication, a copy at its begin.
void Iterate(uint64_t begin, uint64_t end, uint32_t first_correlation) {
  const uint64_t part = (end - begin) / 12;
  const auto at = [&](uint64_t parts) { return begin + parts * part; };
  uint32_t correlation = first_correlation;
  const auto launch = [&](uint64_t when) {
    AddApiCall(LaunchCallback(), when, when + part / 4, ++correlation);
    return correlation;
  };
  AddCopyToDevice({"", 13, at(1), at(2), launch(at(0)), 0}, 1 << 16);
  AddKernel({kGemm, 7, at(2), at(6), launch(at(1)), 0});
  AddKernel({kAllReduce, 20, at(5), at(8), launch(at(4)), 0});
  const uint32_t graph = launch(at(7));
  for (const uint64_t node : {1, 2, 3}) {
    AddKernel({"graph_node", 7, at(7 + node), at(8 + node), graph, node});
  }
}

void Work() {
  InitializeDriver();
  while (Now() == 0) SleepMs(1);  // until the process is a rank, and the tool has asked
  AddDevice();
  uint64_t last = Now();
  for (uint32_t correlation = 0;; correlation += 10) {
    SleepMs(2);
    const uint64_t now = Now();
    Iterate(last, now, correlation);
    last = now;
  }
}

[[gnu::constructor]] void StartInRanks() {
  const char* rank = std::getenv("RANK");
  const char* truth = std::getenv("TUTTI_FAKE_GPU_TRUTH");
  if (rank == nullptr || truth == nullptr) return;
  WriteTruthTo(std::string(truth) + rank);
  std::thread(&Work).detach();
}

}  // namespace
}  // namespace tutti::fake_cupti
