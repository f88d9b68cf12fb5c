// data_parallel: a linear classifier of ten inputs and five classes, trained by one process on all
// GPUs with torch::nn::parallel::data_parallel: each step scatters the batch, copies the model to
// each GPU, runs one forward a GPU in threads and gathers the outputs. Of one device, and so of the
// CPU, that function makes a plain forward of the whole batch; README.md says more.
#include <torch/torch.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "workloads/common/nccl_module.h"
#include "workloads/common/replica.h"
#include "workloads/common/training.h"

namespace tutti::workloads {
namespace {

constexpr int64_t kInputs = 10;
constexpr int64_t kClasses = 5;
constexpr int64_t kSamples = 8192;

// The class is the largest of five noisy linear maps.
TensorData MakeData() {
  constexpr double kNoise = 0.5;
  const torch::Tensor weights = torch::randn({kInputs, kClasses});
  TensorData data;
  data.inputs = torch::randn({kSamples, kInputs});
  const torch::Tensor scores = data.inputs.mm(weights);
  data.targets = (scores + kNoise * torch::randn_like(scores)).argmax(1);
  data.decode = [](torch::Tensor input) { return input; };
  return data;
}

class DataParallelClassifier : public Replica {
 public:
  explicit DataParallelClassifier(const Job& job)
      : Replica(job, Exchange::kOwn, Share{}), model_(kInputs, kClasses) {
    if (job.env.world_size > 1) {
      throw std::runtime_error("is one process for all GPUs; do not start ranks of it");
    }
    Start(model_.ptr(), MakeData(), "8192 generated samples of five classes");
    optimizer_.emplace(model_->parameters(), torch::optim::SGDOptions(job.options.lr));
  }

 protected:
  torch::Tensor Loss(const Batch& batch, int64_t) override {
    const torch::Tensor output = job_.device.is_cuda() ? ForwardOnAllGpus(model_.ptr(), batch.input)
                                                       : model_->forward(batch.input);
    return torch::nn::functional::cross_entropy(output, batch.target);
  }

  void Update(int64_t) override {
    optimizer_->step();
    optimizer_->zero_grad();
  }

 private:
  torch::nn::Linear model_;
  std::optional<torch::optim::SGD> optimizer_;
};

}  // namespace
}  // namespace tutti::workloads

int main(int argc, char** argv) {
  namespace workloads = tutti::workloads;
  workloads::Options options;
  options.lr = 0.5;
  workloads::WithoutReducerFaults(options.carries);
  const auto status = workloads::ParseOptions(
      "data_parallel",
      "Trains a linear classifier by one process on all GPUs (--backend nccl) or on the CPU.", argc,
      argv, options);
  if (status) return *status;
  return workloads::RunTraining("data_parallel", options, [](const workloads::Job& job) {
    return std::make_unique<workloads::DataParallelClassifier>(job);
  });
}
