#include "workloads/common/recompute.h"

#include <torch/torch.h>

#include "workloads/common/autocast.h"

namespace tutti::workloads {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What backward needs beside tensors.
struct Call : torch::CustomClassHolder {
  std::function<torch::Tensor(const torch::Tensor&)> function;
  at::DeviceType device = at::kCPU;
  bool autocast = false;
  at::ScalarType type = at::kFloat;
};

class Recompute : public torch::autograd::Function<Recompute> {
 public:
  static torch::Tensor forward(AutogradContext* context, c10::intrusive_ptr<Call> call,
                               torch::Tensor input) {
    context->save_for_backward({input});
    torch::Tensor output = call->function(input);
    context->saved_data["call"] = c10::IValue::make_capsule(std::move(call));
    return output;
  }

  // Function takes a fixed number of tensors, so that the parameters can't be arguments.
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const auto holder = context->saved_data["call"].toCapsule();
    const auto& call = static_cast<const Call&>(*holder);
    const torch::Tensor input = context->get_saved_variables()[0].detach().requires_grad_(true);
    torch::Tensor output;
    {
      const torch::AutoGradMode with_gradients(true);
      const Autocast autocast(call.device, call.autocast, call.type);
      output = call.function(input);
    }
    torch::autograd::backward({output}, gradients);
    return {torch::Tensor(), input.grad()};  // of |call| and |input|
  }
};

}  // namespace

torch::Tensor Recomputed(std::function<torch::Tensor(const torch::Tensor&)> function,
                         const torch::Tensor& input) {
  auto call = c10::make_intrusive<Call>();
  call->function = std::move(function);
  call->device = input.device().type();
  call->autocast = at::autocast::is_autocast_enabled(call->device);
  call->type = at::autocast::get_autocast_dtype(call->device);
  return Recompute::apply(call, input);
}

}  // namespace tutti::workloads
