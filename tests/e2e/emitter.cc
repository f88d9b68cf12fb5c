// A program that is traced without torch: writes the records that a training job's
// sources would write, through the tracer's own core.
//
//   emitter train [--steps N] [--step-us N] [--hang] [options]
//   emitter kill-loop --count N --progress DIRECTORY [--seed N]
//   emitter sequence [--threads N] [--count N] [--pause-ns N] [--progress FILE] [options]
// kill-loop starts itself as `sequence --progress DIRECTORY/N` with RANK=N for N = 0, 1, …,
// and kills each at a random moment.
// options:
//   --exit CODE    ends with CODE          --signal N    … by raising signal N
//   --wait FILE    before it ends, waits until FILE exists
//   --ready FILE   makes FILE when all is written but the end (or hangs)
//   --fork         forks a child in the middle that tries to write, and waits for it
//   --rank-of-communicator   announces its rank and size (from EMITTER_RANK, EMITTER_SIZE)
// Without a recording around it, it does the same and writes nothing.
#include "tests/e2e/emitter.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tracer/core/entry.h"
#include "tracer/core/session.h"

namespace tutti::e2e {
namespace {

using tracer::Entry;
using tracer::HeaderOf;
using tracer::kCaptureAlways;
using wire::RecordKind;

struct Options {
  std::string mode;
  int64_t steps = 10;
  int64_t step_us = 200;
  int64_t count = 1'000'000'000;
  int64_t pause_ns = 2'000;
  uint32_t threads = 1;
  std::string progress;
  std::string wait;
  std::string ready;
  uint64_t seed = 1;
  int exit_code = 0;
  int signal = 0;
  bool hang = false;
  bool fork_child = false;
  bool announce_rank = false;
};

// Values of tutti_annotation (tracer/annotate.h).
enum Category : uint32_t { kStep = 1, kPhase = 2, kDataWait = 3, kSamples = 4, kTokens = 5 };

constexpr uint64_t kNvtxStack = 0x7e57;  // identity of the emitter's range stack
constexpr uint32_t kCommunicator = 1;

uint32_t Name(Entry& entry, const std::string& text) { return entry.InternText(text); }

void BeginRange(Category category, const std::string& message, int64_t payload) {
  Entry entry(kCaptureAlways);
  if (!entry) return;
  wire::OpenSpan span{};
  span.begin_ticks = entry.Now();
  span.identity = kNvtxStack;
  span.name = Name(entry, message);
  span.kind = static_cast<uint8_t>(RecordKind::kRange);
  span.domain = Name(entry, "tutti");
  span.category = category;
  span.aux = static_cast<uint64_t>(payload);
  entry.BeginSpan(span);
}

void EndRange() {
  Entry entry(kCaptureAlways);
  if (!entry) return;
  const tracer::EndedSpan ended = entry.EndSpan(kNvtxStack);
  if (ended.span == nullptr) return;
  wire::RangeRecord record{};
  record.header = HeaderOf(RecordKind::kRange, ended.span->name);
  record.begin_ticks = ended.span->begin_ticks;
  record.end_ticks = entry.Now();
  record.payload = ended.span->aux;
  record.payload_type = wire::PayloadType::kInt64;
  record.domain = ended.span->domain;
  record.category = ended.span->category;
  entry.Emit(record);
}

void Mark(Category category, int64_t payload) {
  Entry entry(kCaptureAlways);
  if (!entry) return;
  wire::MarkRecord record{};
  record.header = HeaderOf(RecordKind::kMark, 0);
  record.ticks = entry.Now();
  record.payload = static_cast<uint64_t>(payload);
  record.payload_type = wire::PayloadType::kInt64;
  record.domain = Name(entry, "tutti");
  record.category = category;
  entry.Emit(record);
}

void BeginOp(uint64_t identity, const std::string& name) {
  Entry entry(kCaptureAlways);
  if (!entry) return;
  wire::OpenSpan span{};
  span.begin_ticks = entry.Now();
  span.identity = identity;
  span.name = Name(entry, name);
  span.kind = static_cast<uint8_t>(RecordKind::kCpuOp);
  entry.BeginSpan(span);
}

bool EndOp(uint64_t identity, uint8_t scope, int64_t sequence_nr) {
  Entry entry(kCaptureAlways);
  if (!entry) return false;
  const tracer::EndedSpan ended = entry.EndSpan(identity);
  if (ended.span == nullptr) return false;
  wire::CpuOpRecord record{};
  record.header = HeaderOf(RecordKind::kCpuOp, ended.span->name);
  record.begin_ticks = ended.span->begin_ticks;
  record.end_ticks = entry.Now();
  record.sequence_nr = sequence_nr;
  record.scope = scope;
  record.depth = ended.depth;
  return entry.Emit(record);
}

void Ops(int count, uint8_t scope, const std::string& name, int64_t sequence_nr) {
  for (int op = 0; op < count; op += 2) {
    BeginOp(1, name);
    BeginOp(2, name + " inner");
    EndOp(2, scope, sequence_nr);
    EndOp(1, scope, sequence_nr);
  }
}

void Memory(uint64_t address, int64_t delta_bytes) {
  Entry entry(kCaptureAlways);
  if (!entry) return;
  wire::MemoryRecord record{};
  record.header = HeaderOf(RecordKind::kMemory, 0);
  record.ticks = entry.Now();
  record.address = address;
  record.delta_bytes = delta_bytes;
  record.allocated_bytes = -1;
  record.reserved_bytes = -1;
  record.device_index = -1;
  entry.Emit(record);
}

int NumberFrom(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoi(text);
}

void AnnounceCommunicator(bool with_rank) {
  Entry entry(kCaptureAlways);
  if (!entry) return;
  wire::CommunicatorRecord record{};
  record.header = HeaderOf(RecordKind::kCommunicator, Name(entry, "0"));
  record.ticks = entry.Now();
  record.communicator = kCommunicator;
  record.rank = with_rank ? NumberFrom("EMITTER_RANK", 0) : -1;
  record.size = with_rank ? NumberFrom("EMITTER_SIZE", 1) : 0;
  record.description = Name(entry, "default_pg");
  record.backend = wire::Backend::kGloo;
  entry.Emit(record);
}

void Enqueue(uint64_t work, int64_t sequence) {
  Entry entry(kCaptureAlways);
  if (!entry) return;
  wire::CollectiveEnqueueRecord record{};
  record.header = HeaderOf(RecordKind::kCollectiveEnqueue, Name(entry, "all_reduce"));
  record.ticks = entry.Now();
  record.work = work;
  record.sequence = sequence;
  record.communicator = kCommunicator;
  entry.Emit(record);
}

void BeginCollective(uint64_t work) {
  Entry entry(kCaptureAlways);
  if (!entry) return;
  wire::OpenSpan span{};
  span.begin_ticks = entry.Now();
  span.identity = work;
  span.name = Name(entry, "all_reduce");
  span.kind = static_cast<uint8_t>(RecordKind::kCollective);
  span.aux = work;
  span.aux2 = static_cast<uint64_t>(kCollectiveBytes);
  span.domain = kCommunicator;
  entry.BeginSpan(span);
}

void EndCollective(uint64_t work) {
  Entry entry(kCaptureAlways);
  if (!entry) return;
  const tracer::EndedSpan ended = entry.EndSpan(work);
  if (ended.span == nullptr) return;
  wire::CollectiveRecord record{};
  record.header = HeaderOf(RecordKind::kCollective, ended.span->name);
  record.begin_ticks = ended.span->begin_ticks;
  record.end_ticks = entry.Now();
  record.work = work;
  record.bytes = kCollectiveBytes;
  record.sequence = -1;  // only the enqueue knows it
  record.communicator = kCommunicator;
  record.dtype = Name(entry, "float32");
  record.peer = -1;
  record.root = -1;
  entry.Emit(record);
}

// Work handles come again, as addresses do.
uint64_t WorkHandle(int64_t sequence) { return 0x1000 + static_cast<uint64_t>(sequence) % 4; }

// The thread that runs collectives, as Gloo's does.
void RunCollectives(const std::atomic<int64_t>& enqueued, const std::atomic<bool>& stop,
                    int64_t hang_at) {
  for (int64_t sequence = 0;; ++sequence) {
    while (enqueued.load() <= sequence) {
      if (stop.load()) return;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    BeginCollective(WorkHandle(sequence));
    if (sequence == hang_at) {
      for (;;) ::pause();
    }
    // What the main thread allocated for it.
    Memory(WorkHandle(sequence), -kAllocationBytes);
    EndCollective(WorkHandle(sequence));
  }
}

void TryToWriteInChild() {
  const pid_t child = ::fork();
  if (child == 0) {
    tracer::Promote("backward");
    Ops(2, 0, "child", 0);
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
}

void TrainStep(int64_t step, std::atomic<int64_t>& enqueued) {
  BeginRange(kStep, "step", step);
  BeginRange(kDataWait, "loader", 3);
  EndRange();
  Mark(kSamples, kSamplesPerStep);
  Mark(kTokens, kTokensPerStep);
  BeginRange(kPhase, "forward", 0);
  Ops(kForwardOps, 0, "aten::linear", step);
  EndRange();
  BeginRange(kPhase, "backward", 0);
  Ops(kBackwardOps, 1, "LinearBackward0", step);
  for (int collective = 0; collective < kCollectivesPerStep; ++collective) {
    const int64_t sequence = step * kCollectivesPerStep + collective;
    Memory(WorkHandle(sequence), kAllocationBytes);
    Enqueue(WorkHandle(sequence), sequence);
    enqueued.store(sequence + 1);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  EndRange();
  EndRange();
}

void Touch(const std::string& path) {
  if (path.empty()) return;
  ::close(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

void Train(const Options& options) {
  AnnounceCommunicator(options.announce_rank);
  std::atomic<int64_t> enqueued{0};
  std::atomic<bool> stop{false};
  const int64_t last = options.steps * kCollectivesPerStep - 1;
  std::thread worker([&] { RunCollectives(enqueued, stop, options.hang ? last : -1); });
  for (int64_t step = 0; step < options.steps; ++step) {
    TrainStep(step, enqueued);
    if (options.fork_child && step == options.steps / 2) TryToWriteInChild();
    std::this_thread::sleep_for(std::chrono::microseconds(options.step_us));
  }
  if (options.hang) {
    BeginOp(7, "waiting for all_reduce");
    Touch(options.ready);
    for (;;) ::pause();
  }
  stop.store(true);
  worker.join();
}

Progress* MapProgress(const std::string& path) {
  if (path.empty()) {
    static Progress unseen{};
    return &unseen;
  }
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, sizeof(Progress)) != 0) return nullptr;
  void* memory = ::mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<Progress*>(memory);
}

void Spin(int64_t ns) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(ns);
  while (std::chrono::steady_clock::now() < until) {
  }
}

void WriteSequence(const Options& options, uint32_t thread, Progress& progress) {
  const std::string name = kSequencePrefix + std::to_string(thread);
  for (int64_t number = 0; number < options.count; ++number) {
    BeginOp(1, name);
    if (EndOp(1, 0, number)) {
      progress.published[thread].store(static_cast<uint64_t>(number) + 1,
                                       std::memory_order_release);
    }
    if (number == 0) progress.ready.fetch_add(1);
    // Sleeping now and then keeps two cores free for whoever drains.
    if (number % 64 == 63) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    } else {
      Spin(options.pause_ns);
    }
  }
}

bool Sequence(const Options& options) {
  Progress* progress = MapProgress(options.progress);
  if (progress == nullptr) return false;
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < options.threads; ++thread) {
    threads.emplace_back(
        [&options, thread, progress] { WriteSequence(options, thread, *progress); });
  }
  for (std::thread& thread : threads) thread.join();
  return true;
}

void ExecuteSequence(int64_t rank, const std::string& progress) {
  setenv("RANK", std::to_string(rank).c_str(), 1);
  setenv("WORLD_SIZE", "1000", 1);
  setenv("LOCAL_RANK", std::to_string(rank).c_str(), 1);
  // So many that its buffer holds them all, even if nobody drains it; then it waits to be killed.
  const char* arguments[] = {"emitter",        "sequence",     "--threads", "2",       "--progress",
                             progress.c_str(), "--pause-ns",   "2000",      "--count", "20000",
                             "--wait",         "/nonexistent", nullptr};
  ::execv("/proc/self/exe", const_cast<char* const*>(arguments));
  ::_exit(127);
}

bool WaitUntilReady(const Progress& progress, uint64_t threads, pid_t child) {
  for (int waited_ms = 0; progress.ready.load() < threads; ++waited_ms) {
    if (waited_ms > 20'000 || ::waitpid(child, nullptr, WNOHANG) != 0) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

bool KillLoop(const Options& options) {
  std::mt19937_64 random(options.seed);
  for (int64_t rank = 0; rank < options.count; ++rank) {
    const std::string path = options.progress + "/" + std::to_string(rank);
    const Progress* progress = MapProgress(path);
    if (progress == nullptr) return false;
    const pid_t child = ::fork();
    if (child < 0) return false;
    if (child == 0) ExecuteSequence(rank, path);
    if (!WaitUntilReady(*progress, 2, child)) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 15'000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  return true;
}

bool Parse(int argc, char** argv, Options& options) {
  if (argc < 2) return false;
  options.mode = argv[1];
  for (int at = 2; at < argc; ++at) {
    const std::string name = argv[at];
    if (name == "--hang") {
      options.hang = true;
    } else if (name == "--fork") {
      options.fork_child = true;
    } else if (name == "--rank-of-communicator") {
      options.announce_rank = true;
    } else if (at + 1 == argc) {
      return false;
    } else {
      const std::string value = argv[++at];
      const int64_t number = std::atoll(value.c_str());
      if (name == "--steps")
        options.steps = number;
      else if (name == "--step-us")
        options.step_us = number;
      else if (name == "--count")
        options.count = number;
      else if (name == "--pause-ns")
        options.pause_ns = number;
      else if (name == "--threads")
        options.threads = static_cast<uint32_t>(number);
      else if (name == "--seed")
        options.seed = static_cast<uint64_t>(number);
      else if (name == "--exit")
        options.exit_code = static_cast<int>(number);
      else if (name == "--signal")
        options.signal = static_cast<int>(number);
      else if (name == "--progress")
        options.progress = value;
      else if (name == "--ready")
        options.ready = value;
      else if (name == "--wait")
        options.wait = value;
      else
        return false;
    }
  }
  return options.threads <= kMaxThreads;
}

int Main(int argc, char** argv) {
  Options options;
  if (!Parse(argc, argv, options)) {
    std::fprintf(stderr, "emitter: see the head of emitter.cc for its options\n");
    return 2;
  }
  if (options.mode == "kill-loop") return KillLoop(options) ? 0 : 2;
  tracer::Configure();
  tracer::Promote("annotate");
  if (options.mode == "train") {
    Train(options);
  } else if (options.mode != "sequence" || !Sequence(options)) {
    return 2;
  }
  Touch(options.ready);
  while (!options.wait.empty() && ::access(options.wait.c_str(), F_OK) != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  if (options.signal != 0) std::raise(options.signal);
  return options.exit_code;
}

}  // namespace
}  // namespace tutti::e2e

int main(int argc, char** argv) { return tutti::e2e::Main(argc, argv); }
