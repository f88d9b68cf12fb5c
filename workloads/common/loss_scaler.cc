#include "workloads/common/loss_scaler.h"

#include <torch/torch.h>

namespace tutti::workloads {
namespace {

// torch.amp.GradScaler's defaults.
constexpr double kFirstScale = 65536;
constexpr double kGrowth = 2;
constexpr double kBackoff = 0.5;
constexpr int64_t kGrowthEverySteps = 2000;

}  // namespace

LossScaler::LossScaler(at::Device device)
    : scale_(torch::full({}, kFirstScale, torch::dtype(torch::kFloat).device(device))),
      streak_(torch::zeros({}, torch::dtype(torch::kInt).device(device))) {}

at::Tensor LossScaler::Unscale(const std::vector<at::Tensor>& parameters) {
  const torch::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) gradients.push_back(parameter.grad());
  at::Tensor overflow = torch::zeros_like(scale_);
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, overflow, scale_.reciprocal());
  at::_amp_update_scale_(scale_, streak_, overflow, kGrowth, kBackoff, kGrowthEverySteps);
  return overflow;
}

}  // namespace tutti::workloads
