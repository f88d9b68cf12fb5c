// mnist_mlp: a multi-layer perceptron (784 - hidden - 10) that learns handwritten digits,
// data-parallel over any number of ranks. README.md says what its trace looks like.
#include <torch/torch.h>

#include <memory>

#include "workloads/common/dense.h"
#include "workloads/common/image_data.h"
#include "workloads/common/sequential.h"
#include "workloads/common/training.h"

namespace tutti::workloads {
namespace {

// 784 - |hidden| - 10.
std::unique_ptr<Workload> MakePerceptron(const Job& job, const std::string& data_dir,
                                         int64_t hidden) {
  ImageSet images = LoadImages(data_dir);
  const std::string description = images.description;
  const torch::nn::Sequential model(Dense(static_cast<int64_t>(kImagePixels), hidden),
                                    torch::nn::ReLU(), Dense(hidden, kImageClasses));
  const auto loss = [](const torch::Tensor& output, const torch::Tensor& target) {
    return torch::nn::functional::cross_entropy(output, target);
  };
  return std::make_unique<SequentialReplica>(job, model, loss, AsTensors(std::move(images)),
                                             description);
}

}  // namespace
}  // namespace tutti::workloads

int main(int argc, char** argv) {
  namespace workloads = tutti::workloads;
  workloads::Options options;
  // 10 KiB: the last layer's 20 KiB of gradients fill a bucket of their own, whose all-reduce
  // overlaps with the rest of backward.
  options.bucket_mb = 0.01;
  int64_t hidden = 512;
  std::string data_dir;
  const auto status = workloads::ParseOptions(
      "mnist_mlp", "Trains a perceptron on handwritten digits, data-parallel.", argc, argv, options,
      {{"--hidden", "Width of the hidden layer", &hidden},
       {.flag = "--data",
        .help = "Folder with MNIST's uncompressed IDX files",
        .value = &data_dir,
        .is_existing_path = true}});
  if (status) return *status;
  return workloads::RunTraining("mnist_mlp", options, [&](const workloads::Job& job) {
    return workloads::MakePerceptron(job, data_dir, hidden);
  });
}
