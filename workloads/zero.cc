// zero: data-parallel training of a transformer whose optimizer state is divided among ranks (ZeRO
// stage 2): gradients are reduce-scattered, each rank updates its part of the parameters, and the
// parts are all-gathered. README.md says what its trace looks like.
#include <torch/torch.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "workloads/common/adamw.h"
#include "workloads/common/flat.h"
#include "workloads/common/replica.h"
#include "workloads/common/training.h"
#include "workloads/common/transformer.h"

namespace tutti::workloads {
namespace {

// Parameters that travel together, as one vector that is a multiple of the ranks long.
class Bucket {
 public:
  Bucket(std::vector<torch::Tensor> parameters, const Job& job)
      : parameters_(std::move(parameters)), group_(job.group) {
    const torch::Tensor flat = Flatten(parameters_);
    const int64_t ranks = job.env.world_size;
    length_ = (flat.numel() + ranks - 1) / ranks;
    all_ = torch::constant_pad_nd(flat, {0, length_ * ranks - flat.numel()});
    own_ = all_.narrow(0, job.env.rank * length_, length_).clone();
  }

  // The part that this rank updates.
  const torch::Tensor& own() const { return own_; }

  void StartReducing() {
    const torch::NoGradGuard no_grad;
    const torch::Tensor flat = FlatGradients(parameters_);
    sent_ = torch::constant_pad_nd(flat, {0, all_.numel() - flat.numel()});
    if (!group_) return;
    sent_.div_(group_->getSize());
    received_ = torch::empty_like(own_);
    work_ = group_->_reduce_scatter_base(received_, sent_);
  }

  void FinishReducing() {
    if (group_) work_->wait();
    own_.mutable_grad() = group_ ? received_ : sent_;
    for (const torch::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
  }

  void StartGathering() {
    if (group_) work_ = group_->_allgather_base(all_, own_);
  }

  void FinishGathering() {
    if (group_) work_->wait();
    SetParameters(parameters_, group_ ? all_ : own_);
  }

 private:
  const std::vector<torch::Tensor> parameters_;
  const c10::intrusive_ptr<c10d::ProcessGroup> group_;  // null: alone
  int64_t length_ = 0;                                  // of a part
  torch::Tensor all_, own_;                             // parameters
  torch::Tensor sent_, received_;                       // gradients
  c10::intrusive_ptr<c10d::Work> work_;
};

class Zero : public Replica {
 public:
  Zero(const Job& job, TextOptions options) : Replica(job, Exchange::kOwn) {
    Text text = LoadText(options.file);
    options.shape.seed = job.options.seed;
    options.shape.vocabulary = text.vocabulary;
    const std::string description = text.description;
    model_ = Transformer(options.shape, 0, options.shape.layers);
    Start(model_.ptr(), TextWindows(std::move(text), options.shape.context), description);
    MakeBuckets(job);
    std::vector<torch::Tensor> parts;
    for (const Bucket& bucket : buckets_) parts.push_back(bucket.own());
    optimizer_.emplace(parts, job.options.lr);
  }

  std::string Summary() const override { return std::to_string(buckets_.size()) + " buckets"; }

  // The optimizer's state is in parts: each rank has to save its own.
  bool saves() const override { return true; }

 protected:
  torch::Tensor Loss(const Batch& batch, int64_t) override {
    return TokenLoss(model_->forward(batch.input), batch.target);
  }

  void AfterBackward(int64_t, bool exchange) override {
    if (!exchange) return;
    for (Bucket& bucket : buckets_) bucket.StartReducing();
    for (Bucket& bucket : buckets_) bucket.FinishReducing();
  }

  void Update(int64_t) override {
    optimizer_->Step();
    for (Bucket& bucket : buckets_) bucket.StartGathering();
    for (Bucket& bucket : buckets_) bucket.FinishGathering();
  }

  int64_t Tokens(const Batch& batch) const override { return batch.input.numel(); }

 private:
  // Fills buckets in the order in which gradients come: the last parameters first.
  void MakeBuckets(const Job& job) {
    constexpr double kMebibyte = 1024.0 * 1024.0;
    std::vector<torch::Tensor> parameters = model_->parameters();
    std::reverse(parameters.begin(), parameters.end());
    std::vector<torch::Tensor> next;
    double bytes = 0;
    for (const torch::Tensor& parameter : parameters) {
      next.push_back(parameter);
      bytes += static_cast<double>(parameter.nbytes());
      if (bytes < job.options.bucket_mb * kMebibyte) continue;
      buckets_.emplace_back(std::move(next), job);
      next.clear();
      bytes = 0;
    }
    if (!next.empty()) buckets_.emplace_back(std::move(next), job);
  }

  Transformer model_{nullptr};
  std::vector<Bucket> buckets_;
  std::optional<AdamW> optimizer_;
};

}  // namespace
}  // namespace tutti::workloads

int main(int argc, char** argv) {
  namespace workloads = tutti::workloads;
  workloads::Options options;
  options.batch = 8;
  options.lr = 0.003;
  options.bucket_mb = 0.25;
  workloads::WithoutReducerFaults(options.carries);
  workloads::TextOptions own;
  const auto status = workloads::ParseOptions(
      "zero", "Trains a transformer with the optimizer's state divided among ranks.", argc, argv,
      options, own.List());
  if (status) return *status;
  return workloads::RunTraining("zero", options, [&](const workloads::Job& job) {
    return std::make_unique<workloads::Zero>(job, own);
  });
}
