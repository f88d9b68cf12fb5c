// tensor_parallel: a transformer whose layers are divided among ranks: each holds some of the
// attention heads and of the hidden units, and their results are summed by all-reduces inside the
// layer, in forward and in backward (Megatron-LM's scheme). README.md says what its trace looks
// like.
#include <torch/torch.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>

#include "workloads/common/adamw.h"
#include "workloads/common/process_group.h"
#include "workloads/common/replica.h"
#include "workloads/common/seams.h"
#include "workloads/common/training.h"
#include "workloads/common/transformer.h"

namespace tutti::workloads {
namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;
struct TensorParallelOptions {
  TextOptions text;
  int64_t replicas = 1;

  std::vector<OwnOption> List() {
    std::vector<OwnOption> list = text.List();
    list.push_back(
        {"--replicas", "Divided models side by side, each on batches of its own", &replicas});
    return list;
  }
};

// Ranks in order: the parts of the first replica, those of the second, ...
struct Groups {
  int part = 0;
  int parts = 1;
  Group layer;              // of the parts of this replica; null: one
  Replica::Share replicas;  // that have this part
};

Groups JoinGroups(const Job& job, int replicas) {
  const RankEnv& env = job.env;
  if (env.world_size % replicas != 0) {
    throw std::runtime_error("the number of ranks is not a multiple of --replicas");
  }
  Groups groups;
  groups.parts = env.world_size / replicas;
  groups.part = env.rank % groups.parts;
  groups.layer = job.group;
  groups.replicas = {nullptr, env.rank / groups.parts, replicas, groups.part == 0};
  if (replicas == 1) return groups;
  const auto join = [&](int first, int count, int stride, const std::string& name) {
    std::vector<int> ranks;
    for (int i = 0; i < count; ++i) ranks.push_back(first + i * stride);
    return JoinSubgroup(job.group, ranks, name, env, job.options.backend,
                        std::chrono::seconds(job.options.timeout_s));
  };
  const int replica = groups.replicas.rank;
  groups.layer = join(replica * groups.parts, groups.parts, 1, "layer_" + std::to_string(replica));
  groups.replicas.group =
      join(groups.part, replicas, groups.parts, "part_" + std::to_string(groups.part));
  return groups;
}

class TensorParallel : public Replica {
 public:
  TensorParallel(const Job& job, TextOptions options, Groups groups)
      : Replica(job, Exchange::kReducer, groups.replicas), groups_(std::move(groups)) {
    Text text = LoadText(options.file);
    options.shape.seed = job.options.seed;
    options.shape.vocabulary = text.vocabulary;
    const std::string description = text.description;
    Cut cut{groups_.part, groups_.parts, nullptr, nullptr};
    if (groups_.parts > 1) {
      const Group layer = groups_.layer;
      cut.enter = [layer](const torch::Tensor& input) { return EnterParts(input, layer); };
      cut.leave = [layer](const torch::Tensor& part) { return SumParts(part, layer); };
    }
    model_ = Transformer(options.shape, 0, options.shape.layers, cut);
    Start(model_.ptr(), TextWindows(std::move(text), options.shape.context), description);
    optimizer_.emplace(model_->parameters(), job.options.lr);
  }

  // Of the parameters that every part has whole: they get the same gradients, so they stay equal.
  ReplicatedState Replicated() const override {
    std::vector<torch::Tensor> whole;
    std::vector<torch::Tensor> cut;
    for (const Block& block : model_->blocks()) {
      for (const torch::Tensor& parameter : block->CutParameters()) cut.push_back(parameter);
    }
    for (const torch::Tensor& parameter : model_->parameters()) {
      const auto same = [&](const torch::Tensor& other) { return other.is_same(parameter); };
      if (std::none_of(cut.begin(), cut.end(), same)) whole.push_back(parameter);
    }
    return {job_.group, whole};
  }

  bool saves() const override { return job_.env.rank < groups_.parts; }

 protected:
  torch::Tensor Loss(const Batch& batch, int64_t) override {
    return TokenLoss(model_->forward(batch.input), batch.target);
  }

  void Update(int64_t) override {
    optimizer_->Step();
    optimizer_->DropGradients();
  }

  int64_t Tokens(const Batch& batch) const override { return batch.input.numel(); }

 private:
  const Groups groups_;
  Transformer model_{nullptr};
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
  workloads::TensorParallelOptions own;
  // Parts have to agree on the batch, and there are no gradient all-reduces without replicas.
  workloads::WithoutReducerFaults(options.carries);
  std::erase(options.carries, workloads::FaultKind::kDataImbalance);
  const auto status = workloads::ParseOptions(
      "tensor_parallel", "Trains a transformer each of whose layers is divided among ranks.", argc,
      argv, options, own.List());
  if (status) return *status;
  return workloads::RunTraining("tensor_parallel", options, [&](const workloads::Job& job) {
    workloads::Groups groups = workloads::JoinGroups(job, static_cast<int>(own.replicas));
    return std::make_unique<workloads::TensorParallel>(job, own.text, std::move(groups));
  });
}
