// linear: the smallest data-parallel training there is, ten inputs to one output with a squared
// error. Its steps are so short that everything but compute dominates them.
#include <torch/torch.h>

#include "workloads/common/sequential.h"
#include "workloads/common/training.h"

namespace tutti::workloads {
namespace {

constexpr int64_t kInputs = 10;
constexpr int64_t kSamples = 8192;

// y = x . w + 1 + noise, with w drawn once; the same on every rank, as the seed is.
TensorData MakeData() {
  constexpr double kNoise = 0.1;
  const torch::Tensor weights = torch::randn({kInputs, 1});
  TensorData data;
  data.inputs = torch::randn({kSamples, kInputs});
  data.targets = data.inputs.mm(weights) + 1 + kNoise * torch::randn({kSamples, 1});
  data.decode = [](torch::Tensor input) { return input; };
  return data;
}

std::unique_ptr<Workload> MakeLinear(const Job& job) {
  const torch::nn::Sequential model(torch::nn::Linear(kInputs, 1));
  const auto loss = [](const torch::Tensor& output, const torch::Tensor& target) {
    return torch::nn::functional::mse_loss(output, target);
  };
  return std::make_unique<SequentialReplica>(
      job, model, loss, MakeData(),
      std::to_string(kSamples) + " generated samples of a noisy linear map");
}

}  // namespace
}  // namespace tutti::workloads

int main(int argc, char** argv) {
  tutti::workloads::Options options;
  options.lr = 0.05;
  const auto status = tutti::workloads::ParseOptions(
      "linear", "Fits a linear map of ten inputs to one output, data-parallel.", argc, argv,
      options);
  if (status) return *status;
  return tutti::workloads::RunTraining("linear", options, tutti::workloads::MakeLinear);
}
