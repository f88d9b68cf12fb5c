#include "workloads/common/phase.h"

#include <torch/torch.h>

namespace tutti::workloads {

void InjectIntoForward(const Job& job, int64_t step) { job.loop_faults->InForward(step); }

void ComputeFor(std::chrono::nanoseconds duration, torch::Device device) {
  using Clock = std::chrono::steady_clock;
  constexpr int64_t kSide = 256;  // about a millisecond on one core
  const torch::NoGradGuard no_grad;
  const auto end = Clock::now() + duration;
  const torch::Tensor matrix = torch::eye(kSide, device);
  while (Clock::now() < end) torch::mm(matrix, matrix);
}

}  // namespace tutti::workloads
