#include "collector/counters/node_sampler.h"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "collector/counters/gpu_sampler.h"
#include "collector/counters/infiniband.h"

namespace tutti::collector::counters {
namespace {

constexpr size_t kMostWaiting = 4096;  // some minutes of a node with eight GPUs

}  // namespace

struct NodeSampler::State {
  std::mutex mutex;
  std::condition_variable changed;
  bool ends = false;
  std::vector<spool::NodeSample> waiting;

  void Add(const std::vector<spool::NodeSample>& samples) {
    const std::lock_guard lock(mutex);
    for (const spool::NodeSample& sample : samples) {
      if (waiting.size() < kMostWaiting) waiting.push_back(sample);
    }
  }
};

NodeSampler::~NodeSampler() {
  if (!state_) return;
  const std::lock_guard lock(state_->mutex);
  state_->ends = true;
  state_->changed.notify_all();
}

void NodeSampler::Start(int64_t interval_ns) {
  if (state_) return;
  state_ = std::make_shared<State>();
  try {
    std::thread(&NodeSampler::Run, state_, interval_ns).detach();
  } catch (const std::system_error&) {
    // No thread to be had: a recording without these counters.
  }
}

void NodeSampler::Run(const std::shared_ptr<State>& state, int64_t interval_ns) {
  GpuSampler gpus;
  const InfinibandSampler ports;
  const bool has_gpus = gpus.Start();
  if (!has_gpus && !ports.has_ports()) return;
  std::unique_lock lock(state->mutex);
  while (!state->ends) {
    lock.unlock();
    if (has_gpus) state->Add(gpus.Read());
    state->Add(ports.Read());
    lock.lock();
    state->changed.wait_for(lock, std::chrono::nanoseconds(interval_ns),
                            [&] { return state->ends; });
  }
}

std::vector<spool::NodeSample> NodeSampler::Take() {
  if (!state_) return {};
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->waiting, {});
}

}  // namespace tutti::collector::counters
