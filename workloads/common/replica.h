// Data-parallel training: every rank holds the whole model and trains it on batches of its own.
#ifndef TUTTI_WORKLOADS_COMMON_REPLICA_H_
#define TUTTI_WORKLOADS_COMMON_REPLICA_H_

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workloads/common/batch_loader.h"
#include "workloads/common/data_parallel.h"
#include "workloads/common/job.h"
#include "workloads/common/workload.h"

namespace tutti::workloads {

// The step that all data-parallel workloads share. A derived class makes its model, gives its
// parameters to Start and says what a loss is and what an update.
class Replica : public Workload {
 public:
  explicit Replica(const Job& job) : job_(job) {}

  std::string DataDescription() const override { return data_description_; }
  StepResult Step(int64_t step) override;
  ReplicatedState Replicated() const override { return {job_.group, parameters_}; }
  std::string Summary() const override;

 protected:
  // Once, at the end of the derived class's constructor: |parameters| are on the job's device.
  void Start(std::vector<at::Tensor> parameters, TensorData data, std::string data_description);

  // The mean loss of a batch that is on the job's device.
  virtual torch::Tensor Loss(const Batch& batch) = 0;

  // Applies the gradients and drops them.
  virtual void Update(int64_t step) = 0;

  const Job& job_;

 private:
  torch::Tensor Forward(const Batch& batch, int64_t step);
  void Backward(const torch::Tensor& loss, int64_t step);

  std::string data_description_;
  std::vector<at::Tensor> parameters_;
  std::optional<BatchLoader> loader_;
  std::optional<DataParallel> data_parallel_;
};

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_REPLICA_H_
