// A stack of layers that learns labelled samples by plain SGD.
#ifndef TUTTI_WORKLOADS_COMMON_SEQUENTIAL_H_
#define TUTTI_WORKLOADS_COMMON_SEQUENTIAL_H_

#include <torch/torch.h>

#include <optional>
#include <string>

#include "workloads/common/replica.h"

namespace tutti::workloads {

class SequentialReplica : public Replica {
 public:
  // |loss| takes the model's output and the target.
  using LossFunction = torch::Tensor (*)(const torch::Tensor&, const torch::Tensor&);
  SequentialReplica(const Job& job, torch::nn::Sequential model, LossFunction loss, TensorData data,
                    std::string data_description);

 protected:
  torch::Tensor Loss(const Batch& batch, int64_t step) override;
  void Update(int64_t step) override;

 private:
  torch::nn::Sequential model_;
  LossFunction loss_;
  std::optional<torch::optim::SGD> optimizer_;
};

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_SEQUENTIAL_H_
