#include "workloads/common/sequential.h"

namespace tutti::workloads {

SequentialReplica::SequentialReplica(const Job& job, torch::nn::Sequential model, LossFunction loss,
                                     TensorData data, std::string data_description)
    : Replica(job), model_(std::move(model)), loss_(loss) {
  model_->to(job.device);
  optimizer_.emplace(model_->parameters(), torch::optim::SGDOptions(job.options.lr));
  Start(model_->parameters(), std::move(data), std::move(data_description));
}

torch::Tensor SequentialReplica::Loss(const Batch& batch) {
  return loss_(model_->forward(batch.input), batch.target);
}

void SequentialReplica::Update(int64_t) {
  optimizer_->step();
  optimizer_->zero_grad();
}

}  // namespace tutti::workloads
