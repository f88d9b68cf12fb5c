#include "workloads/common/adamw.h"

#include <torch/torch.h>

#include <cmath>

namespace tutti::workloads {
namespace {

// torch.optim.AdamW's defaults.
constexpr double kBeta1 = 0.9;
constexpr double kBeta2 = 0.999;
constexpr double kWeightDecay = 0.01;
constexpr double kEpsilon = 1e-8;

}  // namespace

AdamW::AdamW(std::vector<at::Tensor> parameters, double learning_rate)
    : learning_rate_(learning_rate), parameters_(std::move(parameters)) {
  for (const at::Tensor& parameter : parameters_) {
    means_.push_back(torch::zeros_like(parameter));
    squares_.push_back(torch::zeros_like(parameter));
    steps_.push_back(torch::zeros({}, parameter.options().dtype(torch::kFloat)));
  }
}

void AdamW::Step(Grouping grouping, const std::optional<at::Tensor>& overflow) {
  const torch::NoGradGuard no_grad;
  if (grouping == Grouping::kFused) return StepFused(overflow);
  if (overflow && overflow->item<float>() != 0) return;
  for (size_t i = 0; i < parameters_.size(); ++i) StepOne(i);
}

void AdamW::StepFused(const std::optional<at::Tensor>& overflow) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters_) gradients.push_back(parameter.grad());
  at::_foreach_add_(steps_, 1);  // the operator itself doesn't count
  at::_fused_adamw_(parameters_, gradients, means_, squares_, /*max_exp_avg_sqs=*/{}, steps_,
                    learning_rate_, kBeta1, kBeta2, kWeightDecay, kEpsilon, /*amsgrad=*/false,
                    /*maximize=*/false, /*grad_scale=*/{}, overflow);
  if (overflow) {
    for (at::Tensor& step : steps_) step.sub_(*overflow);
  }
}

void AdamW::StepOne(size_t index) {
  const at::Tensor& gradient = parameters_[index].grad();
  const double step = steps_[index].add_(1).item<float>();
  parameters_[index].mul_(1 - learning_rate_ * kWeightDecay);
  means_[index].mul_(kBeta1).add_(gradient, 1 - kBeta1);
  squares_[index].mul_(kBeta2).addcmul_(gradient, gradient, 1 - kBeta2);
  const at::Tensor spread =
      squares_[index].sqrt().div_(std::sqrt(1 - std::pow(kBeta2, step))).add_(kEpsilon);
  parameters_[index].addcdiv_(means_[index], spread,
                              -learning_rate_ / (1 - std::pow(kBeta1, step)));
}

void AdamW::DropGradients() {
  for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
}

}  // namespace tutti::workloads
