#include "tracer/sources/cupti/source.h"

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>

#include "tracer/core/clock.h"
#include "tracer/core/entry.h"
#include "tracer/core/note.h"
#include "tracer/core/process_info.h"
#include "tracer/sources/cupti/buffers.h"
#include "tracer/sources/cupti/library.h"
#include "tracer/sources/cupti/noisy_calls.h"
#include "tracer/sources/cupti/problem.h"
#include "tracer/sources/cupti/records.h"

namespace tutti::tracer::cupti {
namespace {

constexpr int64_t kPollNs = 10'000'000;      // between looks for full buffers
constexpr int64_t kFlushNs = 1'000'000'000;  // between requests for what is complete
constexpr int64_t kExitDeadlineNs = 5'000'000'000;
constexpr int64_t kPatienceNs = 5'000'000'000;  // for a collector that makes no room
constexpr char kSource[] = "cupti";

// Kernels of CUDA graphs as one row a launch instead of one a kernel (TUTTI_CUDA_GRAPHS=whole): for
// jobs with so many that recording each costs too much. CUPTI gives one or the other.
bool WantsWholeGraphs() noexcept {
  const char* graphs = secure_getenv("TUTTI_CUDA_GRAPHS");
  return graphs != nullptr && std::strcmp(graphs, "whole") == 0;
}

// In the order in which they are asked for. Objects first: they tell where work ran.
constexpr int kKinds[] = {kDevice,   kContext, kStream,  kConcurrentKernel, kMemcpy,
                          kMemcpy2,  kMemset,  kRuntime, kDriver,           kSynchronization,
                          kOverhead, kMemory2, kJit};

// Of the process, never freed: CUPTI's callbacks outlive main(). A forked child inherits it and
// has neither the threads nor a working CUDA; it never starts again.
struct Source {
  enum class Step : uint32_t { kWaiting, kStarting, kRunning, kOff };

  Library library;
  Buffers buffers;
  wire::ClockKind clock_kind;
  uint32_t epoch;  // of the session that it started in: a forked child has another, or none
  void* subscriber;
  std::atomic<bool> capturing;
  std::atomic<bool> exiting;
  std::atomic<bool> flushed;  // the last flush has returned
  std::atomic<bool> drained;  // and all that it gave is handed on
  alignas(RecordWriter) std::byte writer_memory[sizeof(RecordWriter)];
  RecordWriter* writer;

  static inline constinit std::atomic<bool> cuda_seen{false};
  static inline constinit std::atomic<uint32_t> callers{0};
  static inline constinit std::atomic<Step> step{Step::kWaiting};
  static Source source;
};
constinit Source Source::source{};

Source& It() noexcept { return Source::source; }
Functions& Cupti() noexcept { return Source::source.library.functions; }

// ---- Called by CUPTI, on threads of the program. No lock, no system call, no CUPTI.

void OnBufferRequested(uint8_t** buffer, size_t* bytes, size_t* max_records) {
  *buffer = It().buffers.Take();
  *bytes = *buffer != nullptr ? Buffers::kSlotBytes : 0;
  *max_records = 0;  // as many as fit
}

void OnBufferCompleted(void*, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  It().buffers.GiveBack(buffer, valid_bytes);
}

uint64_t OnTimestamp() { return NowTicks(It().clock_kind); }

void OnCallback(void*, int, uint32_t, const void*) {}

// ---- Starting

void NoteOff(const char* what, const char* advice) noexcept {
  char detail[256];
  std::snprintf(detail, sizeof(detail), "the GPU is not traced: %s", what);
  Note({wire::NoteSeverity::kError, kSource, "gpu_not_traced", detail, advice});
}

// False, and said, if |result| is an error; |doing| is what failed.
bool Check(Result result, const char* doing) noexcept {
  if (result == kSuccess) return true;
  const char* name = nullptr;
  if (Cupti().result_string(result, &name) != kSuccess || name == nullptr) name = "unknown";
  const Remedy remedy = RemedyOf(result);
  char what[200];
  std::snprintf(what, sizeof(what), "%s (%s: error %d, %s)", remedy.what, doing, result, name);
  NoteOff(what, remedy.advice);
  return false;
}

// Tells others that CUPTI is in use, and finds out whether it is.
bool Subscribe() noexcept {
  void** const subscriber = &It().subscriber;
  char other[kOldNameBytes] = {};
  Result result;
  if (Cupti().subscribe_v2 != nullptr) {
    SubscriberParams params{sizeof(SubscriberParams), "Tutti", other, sizeof(other)};
    result = Cupti().subscribe_v2(subscriber, &OnCallback, nullptr, &params);
  } else {
    result = Cupti().subscribe(subscriber, &OnCallback, nullptr);
  }
  if (result != kMultipleSubscribers || other[0] == '\0') return Check(result, "cuptiSubscribe");
  other[sizeof(other) - 1] = '\0';
  char what[160];
  std::snprintf(what, sizeof(what), "another tool has CUPTI: %s (error %d)", other, result);
  NoteOff(what, RemedyOf(result).advice);
  return false;
}

void NoteMissingKind(int kind, Result result) noexcept {
  const char* name = nullptr;
  if (Cupti().result_string(result, &name) != kSuccess || name == nullptr) name = "unknown";
  char detail[200];
  std::snprintf(detail, sizeof(detail),
                "CUPTI does not record activity of kind %d here (error %d, %s)", kind, result,
                name);
  Note({wire::NoteSeverity::kNotice, kSource, "gpu_kind_missing", detail,
        result == kInsufficientPrivileges ? RemedyOf(result).advice : ""});
}

// True if kernels are recorded; what else can't be is said.
bool EnableKinds() noexcept {
  for (const int kind : kKinds) {
    const Result result = Cupti().enable(kind);
    if (kind == kConcurrentKernel && !Check(result, "cuptiActivityEnable")) return false;
    if (result != kSuccess) NoteMissingKind(kind, result);
  }
  if (WantsWholeGraphs()) {
    const Result result = Cupti().enable(kGraphTrace);
    if (result != kSuccess) NoteMissingKind(kGraphTrace, result);
  }
  SilenceNoisyCalls(Cupti());
  It().capturing.store(true, std::memory_order_release);
  return true;
}

void DisableKinds() noexcept {
  It().capturing.store(false, std::memory_order_release);
  for (const int kind : kKinds) Cupti().disable(kind);
  if (WantsWholeGraphs()) Cupti().disable(kGraphTrace);
}

// ---- The tracer's threads

void SleepNs(int64_t ns) noexcept {
  const timespec pause{ns / 1'000'000'000, ns % 1'000'000'000};
  nanosleep(&pause, nullptr);
}

// Follows the collector's wishes, as `tutti ctl` changes them.
void FollowCaptureMask() noexcept {
  const bool wanted = Captures(wire::kCaptureCupti);
  const bool capturing = It().capturing.load(std::memory_order_acquire);
  if (wanted && !capturing) EnableKinds();
  if (!wanted && capturing) DisableKinds();
}

void* FlushLoop(void*) {
  int64_t since_flush_ns = 0;
  while (!It().exiting.load(std::memory_order_acquire)) {
    SleepNs(kPollNs);
    FollowCaptureMask();
    since_flush_ns += kPollNs;
    if (since_flush_ns < kFlushNs) continue;
    since_flush_ns = 0;
    if (It().capturing.load(std::memory_order_acquire)) Cupti().flush_all(0);
  }
  Cupti().flush_all(kFlushForced);
  It().flushed.store(true, std::memory_order_release);
  return nullptr;
}

// Records that CUPTI had no buffer for. It counts them itself.
void NoteLosses() noexcept {
  size_t dropped = 0;
  if (Cupti().dropped_records(nullptr, 0, &dropped) != kSuccess || dropped == 0) return;
  Note({wire::NoteSeverity::kDataLoss, kSource, "gpu_records_dropped",
        "activity records of the GPU for which there was no buffer: the collector could "
        "not keep up",
        "give the collector a core, or record fewer sources", dropped});
}

// Hands on what is full; true if there was any.
bool DrainFull() noexcept {
  Buffers::Full full = It().buffers.NextFull();
  if (full.data == nullptr) return false;
  NoteLosses();
  Entry entry(kCaptureAlways);
  for (; full.data != nullptr; full = It().buffers.NextFull()) {
    if (entry) It().writer->WriteBuffer(entry, full.data, full.valid_bytes, kPatienceNs);
    It().buffers.Release(full.slot);
  }
  return true;
}

void* DrainLoop(void*) {
  while (true) {
    const bool is_last = It().flushed.load(std::memory_order_acquire);
    if (DrainFull()) continue;
    if (is_last) break;
    SleepNs(kPollNs);
  }
  NoteLosses();
  It().drained.store(true, std::memory_order_release);
  return nullptr;
}

// A thread that no signal of the program is delivered to.
bool StartThread(void* (*body)(void*), const char* name) noexcept {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const bool started = pthread_create(&thread, nullptr, body, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) return false;
  pthread_setname_np(thread, name);
  pthread_detach(thread);
  return true;
}

// ---- The end

// Waits for the last records, as long as it may.
void OnExit() {
  const uint32_t epoch = CurrentGate().epoch.load(std::memory_order_acquire);
  if (Source::step.load(std::memory_order_acquire) != Source::Step::kRunning ||
      epoch != It().epoch) {
    return;
  }
  It().exiting.store(true, std::memory_order_release);
  const int64_t deadline_ns = MonotonicNs() + kExitDeadlineNs;
  while (MonotonicNs() < deadline_ns) {
    if (It().drained.load(std::memory_order_acquire)) return;
    SleepNs(kPollNs / 10);
  }
  Note({wire::NoteSeverity::kDataLoss, kSource, "gpu_flush_timeout",
        It().flushed.load(std::memory_order_acquire)
            ? "the collector did not take the last GPU events in 5 s"
            : "CUPTI did not give the last GPU events in 5 s: up to a second of them is missing",
        ""});
}

// Everything that needs the subscription; false, and said, if anything fails.
bool StartSubscribed() noexcept {
  // The clock first: records of kinds that were enabled before it would have other stamps.
  if (!Check(Cupti().register_timestamp(&OnTimestamp), "cuptiActivityRegisterTimestampCallback") ||
      !Check(Cupti().register_callbacks(&OnBufferRequested, &OnBufferCompleted),
             "cuptiActivityRegisterCallbacks")) {
    return false;
  }
  Cupti().set_thread_id_type(kSystemThreadIds);
  if (Cupti().enable_all_sync_records != nullptr) Cupti().enable_all_sync_records(0);
  if (!EnableKinds()) return false;
  if (StartThread(&DrainLoop, "tutti-gpu-drain") && StartThread(&FlushLoop, "tutti-gpu-flush")) {
    return true;
  }
  NoteOff("its threads could not be started", "");
  return false;
}

// True if the GPU is traced from now on.
bool Start() noexcept {
  Source& source = It();
  if (const char* problem = FindLibrary(&source.library)) {
    NoteOff(problem,
            "install CUDA's CUPTI (pip install nvidia-cuda-cupti), or name it in "
            "TUTTI_CUPTI_LIBRARY");
    return false;
  }
  source.clock_kind = CurrentGate().clock_kind;
  source.epoch = CurrentGate().epoch.load(std::memory_order_acquire);
  if (!source.buffers.Map()) {
    NoteOff("no memory for its buffers", "");
    return false;
  }
  source.writer = new (source.writer_memory) RecordWriter(source.library);
  if (!Subscribe()) return false;
  if (StartSubscribed()) {
    std::atexit(&OnExit);
    return true;
  }
  DisableKinds();
  Cupti().unsubscribe(source.subscriber);  // others may want it
  return false;
}

void StartIfReady() noexcept {
  // Of the two callers, each of which has just made one of these true, the later one sees both.
  Source::callers.fetch_add(1, std::memory_order_acq_rel);
  if (!Source::cuda_seen.load(std::memory_order_acquire) || !Captures(wire::kCaptureCupti)) return;
  auto step = Source::Step::kWaiting;
  if (!Source::step.compare_exchange_strong(step, Source::Step::kStarting)) return;
  const ErrnoKeeper keeper;
  Source::step.store(Start() ? Source::Step::kRunning : Source::Step::kOff,
                     std::memory_order_release);
}

}  // namespace

void OnCuda() noexcept {
  Source::cuda_seen.store(true, std::memory_order_release);
  StartIfReady();
}

void OnPromotion() noexcept { StartIfReady(); }

}  // namespace tutti::tracer::cupti
