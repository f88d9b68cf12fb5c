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

namespace torch::nn {
class Module;
}

namespace tutti::workloads {

// The step that all data-parallel workloads share. A derived class makes its model, gives it to
// Start and says what a loss is and what an update.
class Replica : public Workload {
 public:
  // Which of the job's samples this rank trains on, and with whom it shares parameters.
  struct Share {
    c10::intrusive_ptr<c10d::ProcessGroup> group;  // null: nobody
    int rank = 0;
    int ranks = 1;
    bool counts_samples = true;  // false if another rank does, which trains on the same
  };
  // Who makes replicas equal: c10d's Reducer during backward, or the derived class.
  enum class Exchange { kReducer, kOwn };

  explicit Replica(const Job& job, Exchange exchange = Exchange::kReducer)
      : Replica(job, exchange, {job.group, job.env.rank, job.env.world_size}) {}
  Replica(const Job& job, Exchange exchange, Share share)
      : job_(job), exchange_(exchange), share_(std::move(share)) {}

  std::string DataDescription() const override { return data_description_; }
  StepResult Step(int64_t step) override;
  ReplicatedState Replicated() const override;
  std::vector<std::pair<std::string, double>> Evaluate() override;
  void Save(torch::serialize::OutputArchive& archive) const override;
  bool saves() const override { return share_.rank == 0; }
  std::string Summary() const override;

 protected:
  // Once, at the end of the derived class's constructor. Moves |model| to the job's device.
  void Start(std::shared_ptr<torch::nn::Module> model, TensorData data,
             std::string data_description);

  // The mean loss of a batch that is on the job's device. |step| is kNoStep in an evaluation.
  static constexpr int64_t kNoStep = -1;
  virtual torch::Tensor Loss(const Batch& batch, int64_t step) = 0;

  // What backward starts from; the loss itself if gradients need no scaling.
  virtual torch::Tensor Scaled(const torch::Tensor& loss) { return loss; }

  // At the end of each backward; |exchange|: of the last in the step.
  virtual void AfterBackward(int64_t /*step*/, bool /*exchange*/) {}

  // Applies the gradients, which are those of Scaled(loss) on average over ranks, and drops them.
  virtual void Update(int64_t step) = 0;

  // Of a batch; 0: it has samples but no tokens.
  virtual int64_t Tokens(const Batch&) const { return 0; }

  const Job& job_;

 private:
  const Exchange exchange_;
  const Share share_;
  // |exchange|: it is the last batch of the step, in which gradients are all-reduced.
  torch::Tensor Forward(const Batch& batch, int64_t step, bool first, bool exchange);
  void Backward(const torch::Tensor& loss, int64_t step, bool exchange);
  void BackwardAndExchange(const torch::Tensor& loss, int64_t step);
  double HeldOutLoss();
  void Balance(int64_t step);
  Batch OnDevice(const Batch& batch) const;

  std::shared_ptr<torch::nn::Module> model_;
  std::string data_description_;
  TensorData held_out_;
  std::optional<BatchLoader> loader_;
  std::optional<DataParallel> data_parallel_;

  // Of forward since the ranks' batches were balanced.
  int64_t timed_samples_ = 0;
  int64_t timed_ns_ = 0;
};

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_REPLICA_H_
