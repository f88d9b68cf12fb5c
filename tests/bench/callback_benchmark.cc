// What observing an operator costs the thread that runs it.
//   callback_benchmark [empty|stamps]
// Runs the same operator with callbacks switched off and on in turns (off, on, on, off) and
// prints the medians as one line of JSON. With "empty" it adds a callback of its own that does
// nothing, with "stamps" one that only takes the time at begin and end, which is the least that a
// tracer has to do; without, whatever observes this process (the tracer) is measured.
//
// The program becomes a rank by a backward pass. It pauses between batches, so that a collector
// that runs only when a core is idle finds time, and a full ring is not what is measured.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <unistd.h>
#include <x86intrin.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

// Every allocation of the process comes through these, the libraries' included. glibc's own
// names for what they replace.
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
}

namespace {
std::atomic<int64_t> allocations{0};
}

extern "C" {
void* malloc(size_t bytes) {
  ++allocations;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  ++allocations;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  ++allocations;
  return __libc_realloc(memory, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  ++allocations;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  ++allocations;
  return __libc_memalign(alignment, bytes);
}
}

namespace {

constexpr int kOperatorsPerBatch = 1'000;
constexpr int kRounds = 400;  // of four batches

void AddEmptyCallback() {
  at::addGlobalCallback(at::RecordFunctionCallback(
      [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { return nullptr; },
      [](const at::RecordFunction&, at::ObserverContext*) {}));
}

thread_local volatile uint64_t last_stamp;

void AddStampingCallback() {
  at::addGlobalCallback(at::RecordFunctionCallback(
      [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> {
        last_stamp = __rdtsc();
        return nullptr;
      },
      [](const at::RecordFunction&, at::ObserverContext*) { last_stamp = __rdtsc(); }));
}

struct Batch {
  double ns;  // per operator
  int64_t allocations;
};

// add_ of one element: no output is allocated, and one operator is one RecordFunction.
Batch RunBatch(at::Tensor& tensor, const at::Tensor& other, bool observed) {
  const at::RecordFunctionGuard guard(observed);
  tensor.add_(other);  // the first one finds its callbacks
  const int64_t before = allocations.load();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < kOperatorsPerBatch; ++i) tensor.add_(other);
  const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
  return {time.count() / kOperatorsPerBatch, allocations.load() - before};
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void BecomeARank() {
  at::Tensor x = at::ones({1});
  x.set_requires_grad(true);
  (x * x).sum().backward();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "empty") == 0) AddEmptyCallback();
  if (argc > 1 && std::strcmp(argv[1], "stamps") == 0) AddStampingCallback();
  at::set_num_threads(1);
  BecomeARank();
  const c10::AutoGradMode no_grad(false);
  at::Tensor tensor = at::ones({1});
  const at::Tensor other = at::ones({1});
  std::vector<double> off;
  std::vector<double> on;
  std::vector<double> added;
  int64_t allocations_off = 0;
  int64_t allocations_on = 0;
  for (int round = 0; round < kRounds; ++round) {
    Batch batches[4];
    for (int i = 0; i < 4; ++i) {
      batches[i] = RunBatch(tensor, other, i == 1 || i == 2);
      usleep(1'000);
    }
    off.insert(off.end(), {batches[0].ns, batches[3].ns});
    on.insert(on.end(), {batches[1].ns, batches[2].ns});
    added.push_back((batches[1].ns + batches[2].ns - batches[0].ns - batches[3].ns) / 2);
    allocations_off += batches[0].allocations + batches[3].allocations;
    allocations_on += batches[1].allocations + batches[2].allocations;
  }
  std::printf(
      "{\"off_ns\": %.2f, \"on_ns\": %.2f, \"added_ns\": %.2f, \"operators\": %d, "
      "\"allocations_off\": %ld, \"allocations_on\": %ld}\n",
      Median(off), Median(on), Median(added), 2 * kRounds * kOperatorsPerBatch,
      static_cast<long>(allocations_off), static_cast<long>(allocations_on));
  return 0;
}
