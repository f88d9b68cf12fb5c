#include "workloads/common/phase.h"

#include <torch/torch.h>

namespace tutti::workloads {

void InjectIntoForward(const Job& job, int64_t step) { job.loop_faults->InForward(step); }

void ComputeFor(std::chrono::nanoseconds duration, torch::Device device) {
  using Clock = std::chrono::steady_clock;
  // Products of a millisecond or less, and towards the end of some 10 us each: few operators, and
  // little time beyond what was asked for.
  constexpr std::chrono::milliseconds kLastPart{2};
  const torch::NoGradGuard no_grad;
  const auto end = Clock::now() + duration;
  const torch::Tensor large = torch::eye(256, device);
  const torch::Tensor small = torch::eye(64, device);
  for (auto now = Clock::now(); now < end; now = Clock::now()) {
    const torch::Tensor& matrix = end - now > kLastPart ? large : small;
    torch::mm(matrix, matrix);
  }
}

}  // namespace tutti::workloads
