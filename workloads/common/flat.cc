#include "workloads/common/flat.h"

#include <torch/torch.h>

namespace tutti::workloads {
namespace {

std::vector<at::Tensor> GradientsOf(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : parameters) gradients.push_back(parameter.grad());
  return gradients;
}

void CopyInto(const std::vector<at::Tensor>& tensors, const at::Tensor& flat) {
  const torch::NoGradGuard no_grad;
  int64_t offset = 0;
  for (const at::Tensor& tensor : tensors) {
    tensor.copy_(flat.narrow(0, offset, tensor.numel()).view_as(tensor));
    offset += tensor.numel();
  }
}

}  // namespace

at::Tensor Flatten(const std::vector<at::Tensor>& tensors) {
  const torch::NoGradGuard no_grad;
  std::vector<at::Tensor> flat;
  for (const at::Tensor& tensor : tensors) flat.push_back(tensor.flatten());
  return at::cat(flat);
}

at::Tensor FlatGradients(const std::vector<at::Tensor>& parameters) {
  return Flatten(GradientsOf(parameters));
}

void SetGradients(const std::vector<at::Tensor>& parameters, const at::Tensor& flat) {
  CopyInto(GradientsOf(parameters), flat);
}

void SetParameters(const std::vector<at::Tensor>& parameters, const at::Tensor& flat) {
  CopyInto(parameters, flat);
}

}  // namespace tutti::workloads
