// AdamW by LibTorch's fused operator, which its own optimizers in C++ do not use.
#ifndef TUTTI_WORKLOADS_COMMON_ADAMW_H_
#define TUTTI_WORKLOADS_COMMON_ADAMW_H_

#include <torch/types.h>

#include <optional>
#include <vector>

namespace tutti::workloads {

// One operator for all parameters, or a dozen small ones for each, as torch::optim::AdamW has (up
// to rounding, the results are the same). Its state is two tensors of the size of each parameter.
// Not thread-safe.
class AdamW {
 public:
  enum class Grouping { kFused, kPerParameter };

  // |parameters| must live on one device and get gradients before each Step.
  AdamW(std::vector<at::Tensor> parameters, double learning_rate);

  // Changes nothing if |overflow| (one float on the parameters' device) is not 0.
  void Step(Grouping grouping = Grouping::kFused, const std::optional<at::Tensor>& overflow = {});

  void DropGradients();

 private:
  void StepFused(const std::optional<at::Tensor>& overflow);
  void StepOne(size_t index);

  const double learning_rate_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> means_;    // of gradients
  std::vector<at::Tensor> squares_;  // means of squared gradients
  std::vector<at::Tensor> steps_;    // one float each
};

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_ADAMW_H_
