// resnet: a small residual network that learns handwritten digits, which the loader turns and
// shifts, data-parallel over any number of ranks. README.md says what its trace looks like.
#include <torch/torch.h>

#include <memory>
#include <optional>
#include <torch/csrc/distributed/c10d/comm.hpp>

#include "workloads/common/image_data.h"
#include "workloads/common/replica.h"
#include "workloads/common/seams.h"
#include "workloads/common/training.h"

namespace tutti::workloads {
namespace {

struct ResnetOptions {
  std::string data_dir;
  int64_t width = 16;
  bool sync_batch_norm = false;
  bool channels_last = false;
  bool no_augmentation = false;

  std::vector<OwnOption> List() {
    return {
        {"--width", "Channels of the first stage; the others have 2 and 4 times as many", &width},
        {"--sync-batch-norm", "Normalize by the samples of all ranks, not of one",
         &sync_batch_norm},
        {"--channels-last", "Keep the channels of a pixel together in memory", &channels_last},
        {"--no-augmentation", "Train on the images as they are", &no_augmentation},
        {.flag = "--data",
         .help = "Folder with MNIST's uncompressed IDX files",
         .value = &data_dir,
         .is_existing_path = true}};
  }
};

// Batch normalization, over the samples of all ranks if |group| is not null. That takes an
// all-reduce of sums and squares in forward and one of their gradients in backward.
class BatchNormImpl : public torch::nn::Module {
 public:
  BatchNormImpl(int64_t channels, c10::intrusive_ptr<c10d::ProcessGroup> group)
      : group_(std::move(group)) {
    weight_ = register_parameter("weight", torch::ones({channels}));
    bias_ = register_parameter("bias", torch::zeros({channels}));
    mean_ = register_buffer("mean", torch::zeros({channels}));
    variance_ = register_buffer("variance", torch::ones({channels}));
  }

  torch::Tensor forward(const torch::Tensor& input) {
    constexpr double kMomentum = 0.1;
    constexpr double kEpsilon = 1e-5;
    if (!group_ || !is_training()) {
      return torch::batch_norm(input, weight_, bias_, mean_, variance_, is_training(), kMomentum,
                               kEpsilon, /*cudnn_enabled=*/true);
    }
    const torch::Tensor ones = torch::ones({1}, input.options());
    const torch::Tensor sums =
        torch::cat({input.sum({0, 2, 3}), input.square().sum({0, 2, 3}),
                    ones * static_cast<double>(input.numel() / input.size(1))});
    const torch::Tensor all = SumParts(EnterParts(sums, group_), group_);
    const int64_t channels = input.size(1);
    const torch::Tensor mean = all.narrow(0, 0, channels) / all[-1];
    const torch::Tensor variance = all.narrow(0, channels, channels) / all[-1] - mean.square();
    {
      const torch::NoGradGuard no_grad;
      mean_.lerp_(mean, kMomentum);
      variance_.lerp_(variance, kMomentum);
    }
    const auto spread = [](const torch::Tensor& x) { return x.view({1, -1, 1, 1}); };
    const torch::Tensor scale = weight_ * (variance + kEpsilon).rsqrt();
    return input * spread(scale) + spread(bias_ - mean * scale);
  }

 private:
  const c10::intrusive_ptr<c10d::ProcessGroup> group_;
  torch::Tensor weight_, bias_, mean_, variance_;
};
TORCH_MODULE(BatchNorm);

torch::nn::Conv2d MakeConvolution(int64_t from, int64_t to, int64_t side, int64_t stride) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(from, to, side).stride(stride).padding(side / 2).bias(false));
}

// Two convolutions, added to their input, which a third brings to their shape.
class ResidualImpl : public torch::nn::Module {
 public:
  ResidualImpl(int64_t from, int64_t to, int64_t stride,
               const c10::intrusive_ptr<c10d::ProcessGroup>& group)
      : first_(MakeConvolution(from, to, 3, stride)),
        second_(MakeConvolution(to, to, 3, 1)),
        shortcut_(MakeConvolution(from, to, 1, stride)),
        first_norm_(to, group),
        second_norm_(to, group) {
    register_module("first", first_);
    register_module("first_norm", first_norm_);
    register_module("second", second_);
    register_module("second_norm", second_norm_);
    register_module("shortcut", shortcut_);
  }

  torch::Tensor forward(const torch::Tensor& input) {
    const torch::Tensor middle = torch::relu(first_norm_->forward(first_->forward(input)));
    const torch::Tensor end = second_norm_->forward(second_->forward(middle));
    return torch::relu(end + shortcut_->forward(input));
  }

 private:
  torch::nn::Conv2d first_, second_, shortcut_;
  BatchNorm first_norm_, second_norm_;
};
TORCH_MODULE(Residual);

torch::nn::Sequential MakeModel(int64_t width,
                                const c10::intrusive_ptr<c10d::ProcessGroup>& group) {
  return torch::nn::Sequential(
      MakeConvolution(1, width, 3, 1), BatchNorm(width, group), torch::nn::ReLU(),
      Residual(width, width, 1, group), Residual(width, 2 * width, 2, group),
      Residual(2 * width, 4 * width, 2, group), torch::nn::AdaptiveAvgPool2d(1),
      torch::nn::Flatten(), torch::nn::Linear(4 * width, kImageClasses));
}

// Turns and shifts each image a little. The draws depend on the images alone, so that threads of
// the loader do not share a generator and runs repeat.
torch::Tensor Augment(const torch::Tensor& images) {
  constexpr double kMaxTurn = 0.25;   // radians
  constexpr double kMaxShift = 0.15;  // of half the side
  const auto seed = static_cast<uint64_t>(images.to(torch::kLong).sum().item<int64_t>());
  at::Generator generator = at::detail::createCPUGenerator(seed);
  const int64_t count = images.size(0);
  const torch::Tensor draws = torch::rand({3, count}, generator).mul_(2).sub_(1);
  const torch::Tensor turn = draws[0] * kMaxTurn;
  const torch::Tensor moves = torch::stack(
      {turn.cos(), -turn.sin(), draws[1] * kMaxShift, turn.sin(), turn.cos(), draws[2] * kMaxShift},
      1);
  const torch::Tensor grid =
      torch::affine_grid_generator(moves.view({count, 2, 3}), images.sizes(), false);
  return torch::grid_sampler(images, grid, /*bilinear*/ 0, /*zeros*/ 0, false);
}

class Resnet : public Replica {
 public:
  Resnet(const Job& job, const ResnetOptions& options)
      : Replica(job),
        sync_(options.sync_batch_norm),
        model_(MakeModel(options.width, options.sync_batch_norm ? job.group : nullptr)) {
    if (options.channels_last) UseChannelsLast();
    ImageSet images = LoadImages(options.data_dir);
    const std::string description = images.description;
    TensorData data = AsTensors(std::move(images));
    data.decode = [augment = !options.no_augmentation](const torch::Tensor& pixels) {
      const torch::Tensor square =
          DecodeImages(pixels).view({-1, 1, int64_t{kImageSide}, int64_t{kImageSide}});
      return augment ? Augment(square) : square;
    };
    Start(model_.ptr(), std::move(data), description);
    optimizer_.emplace(model_->parameters(),
                       torch::optim::SGDOptions(job.options.lr).momentum(0.9));
  }

 protected:
  torch::Tensor Loss(const Batch& batch, int64_t) override {
    if (model_->is_training() && job_.group && !sync_) BroadcastBuffers();
    return torch::nn::functional::cross_entropy(model_->forward(batch.input.contiguous(format_)),
                                                batch.target);
  }

  void Update(int64_t) override {
    optimizer_->step();
    optimizer_->zero_grad();
  }

 private:
  // New tensors: of those with one channel or one pixel, LibTorch would leave the strides as they
  // are, and gradients would get others.
  void UseChannelsLast() {
    format_ = torch::MemoryFormat::ChannelsLast;
    const torch::NoGradGuard no_grad;
    for (torch::Tensor& parameter : model_->parameters()) {
      if (parameter.dim() != 4) continue;
      parameter.set_data(
          torch::empty_like(parameter, parameter.options(), format_).copy_(parameter));
    }
  }

  // Running means and variances, which every rank has of its own samples, become those of rank 0,
  // as DistributedDataParallel does before each forward.
  void BroadcastBuffers() {
    constexpr size_t kBytes = size_t{250} << 20;
    const torch::NoGradGuard no_grad;
    c10d::broadcast_coalesced(job_.group, model_->buffers(), kBytes);
  }

  const bool sync_;
  torch::MemoryFormat format_ = torch::MemoryFormat::Contiguous;
  torch::nn::Sequential model_;
  std::optional<torch::optim::SGD> optimizer_;
};

}  // namespace
}  // namespace tutti::workloads

int main(int argc, char** argv) {
  namespace workloads = tutti::workloads;
  workloads::Options options;
  options.batch = 32;
  options.lr = 0.1;
  options.bucket_mb = 0.1;
  workloads::ResnetOptions own;
  const auto status = workloads::ParseOptions(
      "resnet", "Trains a residual network on handwritten digits, data-parallel.", argc, argv,
      options, own.List());
  if (status) return *status;
  return workloads::RunTraining("resnet", options, [&](const workloads::Job& job) {
    return std::make_unique<workloads::Resnet>(job, own);
  });
}
