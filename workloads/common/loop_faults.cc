#include "workloads/common/loop_faults.h"

#include <torch/torch.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "tracer/annotate.h"
#include "workloads/common/draw.h"
#include "workloads/common/phase.h"

namespace tutti::workloads {
namespace {

using std::chrono::nanoseconds;

constexpr int64_t kHiccupEvery = 10;  // steps, on average
constexpr int64_t kCheckpointEvery = 10;
constexpr int64_t kLogEvery = 5;

void RunTinyOperators(int64_t count, torch::Device device) {
  torch::Tensor numbers = torch::zeros({16}, device);
  for (int64_t i = 0; i < count; ++i) numbers = torch::add(numbers, 1);
}

torch::Tensor TakeBytes(int64_t bytes, torch::Device device) {
  return torch::ones({bytes}, torch::dtype(torch::kByte).device(device));
}

// The device has nothing to do when its numbers are asked for.
void WaitForDevice(int64_t times, torch::Device device) {
  const torch::Tensor number = torch::zeros({1}, device);
  for (int64_t i = 0; i < times; ++i) number.add(static_cast<double>(i)).item<float>();
}

// Memory of which every other piece is in use, so that what is free fits nothing larger.
std::vector<torch::Tensor> Fragment(int64_t bytes, torch::Device device) {
  constexpr int64_t kPiece = 2 << 20;
  std::vector<torch::Tensor> pieces;
  for (int64_t taken = 0; taken < bytes; taken += kPiece) {
    pieces.push_back(TakeBytes(kPiece, device));
  }
  std::vector<torch::Tensor> kept;
  for (size_t i = 0; i < pieces.size(); i += 2) kept.push_back(pieces[i]);
  return kept;
}

// True in the steps that hiccups draws for this rank.
bool IsHiccup(int64_t step, int rank) {
  constexpr uint64_t kRankStride = 1'000'003;  // ranks draw for themselves
  const auto key = static_cast<uint64_t>(step) + kRankStride * static_cast<uint64_t>(rank + 1);
  return Draw(key, 1, kHiccupEvery) == 1;
}

}  // namespace

// The fault cpu_contention: threads that compute nothing, for as long as the object lives.
class LoopFaults::Spinners {
 public:
  explicit Spinners(int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      threads_.emplace_back([this] {
        while (!stop_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~Spinners() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }
  Spinners(const Spinners&) = delete;
  Spinners& operator=(const Spinners&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

LoopFaults::LoopFaults(FaultPlan plan, torch::Device device,
                       c10::intrusive_ptr<c10d::ProcessGroup> group)
    : plan_(std::move(plan)), device_(device), group_(std::move(group)) {
  for (const Fault& fault : plan_.faults()) {
    const bool needs_gpu =
        fault.kind == FaultKind::kSyncEveryStep || fault.kind == FaultKind::kFragmentation;
    if (needs_gpu && !device_.is_cuda()) {
      throw std::runtime_error("--inject " + std::string(FaultName(fault.kind)) +
                               ": only on GPUs (--backend nccl)");
    }
  }
  if (const auto bytes = plan_.Amount(FaultKind::kFragmentation)) {
    kept_ = Fragment(*bytes, device_);
  }
}

LoopFaults::~LoopFaults() = default;

void LoopFaults::BeginStep(int64_t step) {
  const auto threads = plan_.Amount(FaultKind::kCpuContention, step);
  if (!threads) spinners_.reset();
  if (threads && !spinners_) spinners_ = std::make_unique<Spinners>(*threads);
}

void LoopFaults::InForward(int64_t step) {
  const torch::NoGradGuard no_grad;
  if (const auto extra_ns = plan_.Amount(FaultKind::kExtraCompute, step)) {
    ComputeFor(nanoseconds(*extra_ns), device_);
  }
  if (const auto away_ns = plan_.Amount(FaultKind::kHiccups, step)) {
    if (IsHiccup(step, plan_.rank())) std::this_thread::sleep_for(nanoseconds(*away_ns));
  }
  if (const auto count = plan_.Amount(FaultKind::kTinyOperators, step)) {
    RunTinyOperators(*count, device_);
  }
  if (const auto bytes = plan_.Amount(FaultKind::kAllocationChurn, step)) {
    TakeBytes(*bytes, device_);
  }
  if (const auto times = plan_.Amount(FaultKind::kSyncEveryStep, step)) {
    WaitForDevice(*times, device_);
  }
}

void LoopFaults::EndStep(int64_t step) {
  if (const auto bytes = plan_.Amount(FaultKind::kMemoryLeak, step)) {
    kept_.push_back(TakeBytes(*bytes, device_));
  }
  if (const auto barriers = plan_.Amount(FaultKind::kNeedlessBarrier, step)) {
    for (int64_t i = 0; group_ && i < *barriers; ++i) group_->barrier()->wait();
  }
  if (const auto log_ns = plan_.Amount(FaultKind::kLogPause, step)) {
    if (step % kLogEvery == kLogEvery - 1) std::this_thread::sleep_for(nanoseconds(*log_ns));
  }
  if (const auto write_ns = plan_.Amount(FaultKind::kCheckpointPause, step)) {
    if (step % kCheckpointEvery == kCheckpointEvery - 1) {
      tutti_phase_begin(TUTTI_PHASE_CHECKPOINT);
      std::this_thread::sleep_for(nanoseconds(*write_ns));
      tutti_phase_end();
    }
  }
}

}  // namespace tutti::workloads
