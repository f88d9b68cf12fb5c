// A LibTorch DataLoader over tensors in memory, sharded over ranks and run for any number of
// epochs, that tells Tutti when training waits for it.
#ifndef TUTTI_WORKLOADS_COMMON_BATCH_LOADER_H_
#define TUTTI_WORKLOADS_COMMON_BATCH_LOADER_H_

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "workloads/common/fault.h"

namespace tutti::workloads {

// Samples along dimension 0. |decode| turns the chosen rows of |inputs| into what the model
// takes; it runs in the loader's threads and must not keep state. |decode_target|, if set, does
// the same for |targets|.
struct TensorData {
  torch::Tensor inputs;
  torch::Tensor targets;
  std::function<torch::Tensor(torch::Tensor)> decode;
  std::function<torch::Tensor(torch::Tensor)> decode_target = nullptr;
};

struct Batch {
  torch::Tensor input;
  torch::Tensor target;
};

// The samples of |rows| (of int64), decoded.
Batch Take(const TensorData& data, const torch::Tensor& rows);

// Used by one thread. Epochs are shuffled anew (DistributedRandomSampler) and follow each
// other without a gap in the sequence of batches. The last batch of an epoch may be smaller.
class BatchLoader {
 public:
  struct Shape {
    int64_t batch;
    int workers;
    int rank;
    int world_size;
  };
  // Carries |plan|'s slow_loader, few_workers, epoch_stall, data_imbalance and shape_churn.
  BatchLoader(TensorData data, const Shape& shape, FaultPlan plan);
  ~BatchLoader();

  // The next batch, waiting for it if need be; the wait is annotated, with the number of
  // batches that were ready when it began.
  Batch Next();

  // How large batches are that are not loading yet. With as many workers, ranks that call this
  // after the same number of batches change in the same one.
  void set_batch(int64_t batch);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_BATCH_LOADER_H_
