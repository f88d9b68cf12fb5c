// Images of handwritten digits as tensors.
#ifndef TUTTI_WORKLOADS_COMMON_IMAGE_DATA_H_
#define TUTTI_WORKLOADS_COMMON_IMAGE_DATA_H_

#include <torch/types.h>

#include "workloads/common/batch_loader.h"
#include "workloads/common/images.h"

namespace tutti::workloads {

// [samples, kImagePixels] of bytes to floats of about zero mean and unit deviation.
torch::Tensor DecodeImages(const torch::Tensor& pixels);

// Tensors over the set's memory, which they keep alive; decoded by DecodeImages.
TensorData AsTensors(ImageSet images);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_IMAGE_DATA_H_
