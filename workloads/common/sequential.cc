#include "workloads/common/sequential.h"

namespace tutti::workloads {

SequentialReplica::SequentialReplica(const Job& job, torch::nn::Sequential model, LossFunction loss,
                                     TensorData data, std::string data_description)
    : Replica(job), model_(std::move(model)), loss_(loss) {
  Start(model_.ptr(), std::move(data), std::move(data_description));
  optimizer_.emplace(model_->parameters(), torch::optim::SGDOptions(job.options.lr));
}

torch::Tensor SequentialReplica::Loss(const Batch& batch, int64_t) {
  return loss_(model_->forward(batch.input), batch.target);
}

void SequentialReplica::Update(int64_t) {
  optimizer_->step();
  optimizer_->zero_grad();
}

}  // namespace tutti::workloads
