// Scaling of the loss for training in fp16, whose small gradients would be 0: what
// torch.amp.GradScaler is in Python.
#ifndef TUTTI_WORKLOADS_COMMON_LOSS_SCALER_H_
#define TUTTI_WORKLOADS_COMMON_LOSS_SCALER_H_

#include <torch/types.h>

#include <vector>

namespace tutti::workloads {

// Doubles the scale after many steps without an overflow and halves it at each.
class LossScaler {
 public:
  explicit LossScaler(at::Device device);

  at::Tensor Scale(const at::Tensor& loss) const { return loss * scale_; }

  // Divides the gradients by the scale and adapts it. Returns one float: not 0 if a gradient was
  // not finite, so that the step must be left out. The same on all ranks, as gradients are.
  at::Tensor Unscale(const std::vector<at::Tensor>& parameters);

 private:
  at::Tensor scale_;   // one float
  at::Tensor streak_;  // one int: steps since the last overflow
};

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_LOSS_SCALER_H_
