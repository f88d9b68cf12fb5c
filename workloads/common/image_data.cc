#include "workloads/common/image_data.h"

#include <torch/torch.h>

#include <memory>

namespace tutti::workloads {

torch::Tensor DecodeImages(const torch::Tensor& pixels) {
  // MNIST's own figures.
  constexpr double kMean = 0.1307;
  constexpr double kDeviation = 0.3081;
  return pixels.to(torch::kFloat).div_(255).sub_(kMean).div_(kDeviation);
}

TensorData AsTensors(ImageSet images) {
  const auto owner = std::make_shared<ImageSet>(std::move(images));
  const auto count = static_cast<int64_t>(owner->size());
  const auto keep_alive = [owner](void*) {};
  TensorData data;
  data.inputs = torch::from_blob(owner->pixels.data(), {count, int64_t{kImagePixels}}, keep_alive,
                                 torch::kByte);
  data.targets =
      torch::from_blob(owner->labels.data(), {count}, keep_alive, torch::kByte).to(torch::kLong);
  data.decode = DecodeImages;
  return data;
}

}  // namespace tutti::workloads
