// A program with a scripted GPU, for the tests of the cupti source; its argument says what it
// does. It prints nothing of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tracer/annotate.h"
#include "tracer/sources/cupti/testing/fake_cupti.h"

namespace {

using namespace tutti::fake_cupti;  // NOLINT(google-build-using-namespace): its script

constexpr char kGemm[] = "_Z4gemmPfS_i";

// |count| kernels with their launches, 10 ticks each, on stream 7.
void LaunchKernels(uint32_t count) {
  for (uint32_t i = 1; i <= count; ++i) {
    const uint64_t now = Now();
    AddApiCall(LaunchCallback(), now, now + 1, i);
    AddKernel({kGemm, 7, now + 2, now + 12, i, 0});
  }
}

void OneOfEach() {
  AddDevice();
  const uint64_t now = Now();
  AddApiCall(LaunchCallback(), now, now + 5, 1);
  AddKernel({kGemm, 7, now + 10, now + 20, 1, 0});
  AddCopyToDevice({"", 13, now + 30, now + 40, 2, 0}, 4096);
  AddFill({"", 7, now + 50, now + 60, 3, 0}, 64);
  AddStreamWait(7, now + 60, now + 70, 4);
  AddCommandBufferFull(now + 70, now + 80);
  for (const uint64_t node : {1, 2, 3}) AddKernel({"node", 7, now + 90, now + 95, 5, node});
}

// A child of a process whose GPU is traced, which then trains by itself.
int Fork() {
  LaunchKernels(10);
  const pid_t child = fork();
  if (child == 0) {
    tutti_step_begin(0);
    tutti_step_end();
    std::exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child ? status : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "late") {  // a rank first, CUDA afterwards
    tutti_step_begin(0);
    InitializeDriver();
  } else {
    InitializeDriver();
    if (what == "candidate") {
      LaunchKernels(10);
      return 0;
    }
    tutti_step_begin(0);
  }
  if (what == "each" || what == "late") OneOfEach();
  if (what == "many") LaunchKernels(20'000);
  if (what == "threads") {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([] { LaunchKernels(5'000); });
    for (std::thread& thread : threads) thread.join();
  }
  if (what == "untimed") AddKernel({kGemm, 7, 0, 0, 1, 0});
  tutti_step_end();
  if (what == "fork") return Fork();
  if (what == "wait") sleep(2);  // for the regular flush
  if (what == "killed") {
    LaunchKernels(100);
    sleep(2);
    _exit(0);  // no exit handler
  }
  return 0;
}
