// gpt: a decoder-only transformer that learns to write licences character by character,
// data-parallel over any number of ranks. README.md says what its trace looks like.
#include <torch/torch.h>

#include <memory>
#include <optional>

#include "workloads/common/adamw.h"
#include "workloads/common/autocast.h"
#include "workloads/common/loss_scaler.h"
#include "workloads/common/replica.h"
#include "workloads/common/training.h"
#include "workloads/common/transformer.h"

namespace tutti::workloads {
namespace {

struct GptOptions {
  TextOptions text;
  std::string amp = "none";
  bool checkpointing = false;

  std::vector<OwnOption> List() {
    std::vector<OwnOption> list = text.List();
    list.push_back({.flag = "--amp",
                    .help = "Automatic mixed precision; fp16 scales the loss",
                    .value = &amp,
                    .choices = {"none", "bf16", "fp16"}});
    list.push_back(
        {"--checkpointing", "Keep only inputs of blocks, compute the rest again", &checkpointing});
    return list;
  }
};

class Gpt : public Replica {
 public:
  Gpt(const Job& job, const GptOptions& options) : Replica(job), options_(options) {
    TransformerShape shape = options.text.shape;
    shape.seed = job.options.seed;
    Text text = LoadText(options.text.file);
    shape.vocabulary = text.vocabulary;
    const std::string description = text.description;
    model_ = Transformer(shape, 0, shape.layers);
    const FaultPlan& faults = job.faults;
    model_->set_checkpointing(options.checkpointing || faults.Amount(FaultKind::kRecompute));
    half_ = options.amp != "none" && !faults.Amount(FaultKind::kFp32);
    Start(model_.ptr(), TextWindows(std::move(text), shape.context), description);
    optimizer_.emplace(model_->parameters(), job.options.lr);
    if (half_ && options.amp == "fp16") scaler_.emplace(job.device);
  }

 protected:
  torch::Tensor Loss(const Batch& batch, int64_t) override {
    const at::ScalarType type = options_.amp == "fp16" ? torch::kHalf : torch::kBFloat16;
    const Autocast autocast(job_.device.type(), half_, type);
    return TokenLoss(model_->forward(batch.input).to(torch::kFloat), batch.target);
  }

  torch::Tensor Scaled(const torch::Tensor& loss) override {
    return scaler_ ? scaler_->Scale(loss) : loss;
  }

  void Update(int64_t) override {
    const bool one_by_one = job_.faults.Amount(FaultKind::kPerParameterOptimizer).has_value();
    const auto grouping = one_by_one ? AdamW::Grouping::kPerParameter : AdamW::Grouping::kFused;
    std::optional<at::Tensor> overflow;
    if (scaler_) overflow = scaler_->Unscale(model_->parameters());
    optimizer_->Step(grouping, overflow);
    optimizer_->DropGradients();
  }

  int64_t Tokens(const Batch& batch) const override { return batch.input.numel(); }

 private:
  const GptOptions options_;
  bool half_ = false;  // computes in a half type where that will do
  Transformer model_{nullptr};
  std::optional<AdamW> optimizer_;
  std::optional<LossScaler> scaler_;
};

}  // namespace
}  // namespace tutti::workloads

int main(int argc, char** argv) {
  namespace workloads = tutti::workloads;
  workloads::Options options;
  options.batch = 8;
  options.lr = 0.003;
  options.bucket_mb = 0.25;
  using workloads::FaultKind;
  options.carries.insert(options.carries.end(), {FaultKind::kPerParameterOptimizer,
                                                 FaultKind::kRecompute, FaultKind::kFp32});
  workloads::GptOptions own;
  const auto status = workloads::ParseOptions(
      "gpt", "Trains a transformer on text, character by character, data-parallel.", argc, argv,
      options, own.List());
  if (status) return *status;
  return workloads::RunTraining("gpt", options, [&](const workloads::Job& job) {
    return std::make_unique<workloads::Gpt>(job, own);
  });
}
