#include "workloads/common/dense.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace tutti::workloads {
namespace {

// An operator that has no function in C++.
c10::IValue Call(const char* name, torch::jit::Stack arguments) {
  c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(&arguments);
  return arguments.at(0);
}

std::vector<DenseImpl*> DenseLayersOf(torch::nn::Module& model) {
  std::vector<DenseImpl*> layers;
  for (const auto& module : model.modules(/*include_self=*/true)) {
    if (auto* const dense = module->as<DenseImpl>()) layers.push_back(dense);
  }
  return layers;
}

}  // namespace

torch::Tensor DenseImpl::forward(const torch::Tensor& input) {
  if (!packed_) return torch::linear(input, weight, bias);
  constexpr bool kReduceRange = true;  // for CPUs whose 16-bit sums would overflow
  return Call("quantized::linear_dynamic", {input.to(torch::kFloat), *packed_, kReduceRange})
      .toTensor();
}

void DenseImpl::Quantize() {
  constexpr double kLargest = 127;
  const torch::NoGradGuard no_grad;
  const double scale = std::max(weight.abs().max().item<double>() / kLargest, 1e-12);
  const torch::Tensor int8 = torch::quantize_per_tensor(weight, scale, 0, torch::kQInt8);
  packed_ = Call("quantized::linear_prepack", {int8, std::optional<torch::Tensor>(bias)});
}

void WithInt8(torch::nn::Module& model, const std::function<void()>& function) {
  const std::vector<DenseImpl*> layers = DenseLayersOf(model);
  for (DenseImpl* const layer : layers) layer->Quantize();
  function();
  for (DenseImpl* const layer : layers) layer->Restore();
}

void WithPruned(torch::nn::Module& model, int64_t percent, const std::function<void()>& function) {
  const torch::NoGradGuard no_grad;
  std::vector<std::pair<torch::Tensor, torch::Tensor>> saved;
  for (const torch::Tensor& parameter : model.parameters()) {
    const int64_t count = parameter.numel() * percent / 100;
    if (parameter.dim() < 2 || count == 0) continue;
    saved.emplace_back(parameter, parameter.clone());
    const torch::Tensor magnitude = parameter.abs();
    const torch::Tensor limit = std::get<0>(magnitude.flatten().kthvalue(count));
    parameter.masked_fill_(magnitude.le(limit), 0);
  }
  function();
  for (auto& [parameter, values] : saved) parameter.copy_(values);
}

}  // namespace tutti::workloads
