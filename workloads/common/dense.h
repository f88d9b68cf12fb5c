// A linear layer that can compute in 8 bits while a model is evaluated.
#ifndef TUTTI_WORKLOADS_COMMON_DENSE_H_
#define TUTTI_WORKLOADS_COMMON_DENSE_H_

#include <torch/torch.h>

#include <functional>
#include <optional>

namespace tutti::workloads {

class DenseImpl : public torch::nn::LinearImpl {
 public:
  using torch::nn::LinearImpl::LinearImpl;

  // Hides LinearImpl's, which is not virtual.
  torch::Tensor forward(const torch::Tensor& input);

  // Dynamic quantization, as torch.ao.quantization.quantize_dynamic does it: a copy of the weights
  // in int8, inputs converted as they come, results in float. On CPUs; forward has no gradient.
  void Quantize();
  void Restore() { packed_.reset(); }

 private:
  std::optional<c10::IValue> packed_;  // weights and bias as the operator wants them
};
TORCH_MODULE(Dense);

// Calls |function| with all of |model|'s dense layers in int8.
void WithInt8(torch::nn::Module& model, const std::function<void()>& function);

// Calls |function| with the |percent| smallest weights of each of |model|'s matrices set to 0.
void WithPruned(torch::nn::Module& model, int64_t percent, const std::function<void()>& function);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_DENSE_H_
