// pipeline: a transformer whose layers are divided among ranks. Each stage sends activations of
// micro-batches to the next and their gradients to the one before. README.md says what its trace
// looks like.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>

#include "workloads/common/adamw.h"
#include "workloads/common/batch_loader.h"
#include "workloads/common/flat.h"
#include "workloads/common/phase.h"
#include "workloads/common/process_group.h"
#include "workloads/common/training.h"
#include "workloads/common/transformer.h"

namespace tutti::workloads {
namespace {

struct PipelineOptions {
  TextOptions text;
  int64_t replicas = 1;
  int64_t micro_batches = 8;
  std::string schedule = "1f1b";

  std::vector<OwnOption> List() {
    std::vector<OwnOption> list = text.List();
    list.push_back({"--replicas", "Pipelines side by side, each on batches of its own", &replicas});
    list.push_back({"--micro-batches", "Parts of a batch; they must be equal", &micro_batches});
    list.push_back({.flag = "--schedule",
                    .help = "gpipe: all forwards, then all backwards; 1f1b: in turns once full",
                    .value = &schedule,
                    .choices = {"gpipe", "1f1b"}});
    return list;
  }
};

// Ranks in order: the stages of the first pipeline, those of the second, ...
struct Place {
  int stage;
  int stages;
  int replica;
  int replicas;
  bool first() const { return stage == 0; }
  bool last() const { return stage == stages - 1; }
};

Place PlaceOf(const RankEnv& env, const PipelineOptions& options) {
  const auto replicas = static_cast<int>(options.replicas);
  if (env.world_size % replicas != 0) {
    throw std::runtime_error("the number of ranks is not a multiple of --replicas");
  }
  const int stages = env.world_size / replicas;
  if (options.text.shape.layers < stages) {
    throw std::runtime_error("--layers: a stage would have none");
  }
  return {env.rank % stages, stages, env.rank / stages, replicas};
}

// The parameters' gradients, averaged over all replicas of a stage, by one all-reduce.
void AverageGradients(const std::vector<torch::Tensor>& parameters, c10d::ProcessGroup& replicas) {
  const torch::NoGradGuard no_grad;
  std::vector<torch::Tensor> flat = {FlatGradients(parameters).div_(replicas.getSize())};
  replicas.allreduce(flat)->wait();
  SetGradients(parameters, flat[0]);
}

class Pipeline : public Workload {
 public:
  Pipeline(const Job& job, const PipelineOptions& options)
      : job_(job), options_(options), place_(PlaceOf(job.env, options)) {
    const Options& shared = job.options;
    if (shared.accumulate > 1 || shared.evaluate_every > 0 || shared.balance_every > 0 ||
        shared.compress != "none") {
      throw std::runtime_error(
          "a pipeline has --micro-batches in place of --accumulate, and none of --compress, "
          "--balance-every and --evaluate-every");
    }
    if (job.options.batch % options.micro_batches != 0) {
      throw std::runtime_error("--batch is not a multiple of --micro-batches");
    }
    TransformerShape& shape = options_.text.shape;
    shape.seed = job.options.seed;
    Text text = LoadText(options.text.file);
    shape.vocabulary = text.vocabulary;
    description_ = text.description;
    const int64_t layers = shape.layers;
    model_ = Transformer(shape, layers * place_.stage / place_.stages,
                         layers * (place_.stage + 1) / place_.stages);
    model_->to(job.device);
    optimizer_.emplace(model_->parameters(), job.options.lr);
    if (place_.first() || place_.last()) MakeLoader(std::move(text));
    if (job.group) JoinGroups();
  }

  std::string DataDescription() const override { return description_; }
  int reporter() const override { return place_.stages - 1; }
  ReplicatedState Replicated() const override { return {replicas_, model_->parameters()}; }
  void Save(torch::serialize::OutputArchive& archive) const override { model_->save(archive); }
  bool saves() const override { return place_.replica == 0; }
  std::string Summary() const override {
    return "stage " + std::to_string(place_.stage) + " of " + std::to_string(place_.stages);
  }

  StepResult Step(int64_t step) override {
    BeginBatch(step);
    const auto all = static_cast<size_t>(options_.micro_batches);
    // Forwards before the first backward: enough to keep the later stages busy, or all.
    const auto ahead = static_cast<size_t>(place_.stages - place_.stage - 1);
    const size_t warm_up = options_.schedule == "gpipe" ? all : std::min(all, ahead);
    for (size_t i = 0; i < warm_up; ++i) Forward(i);
    for (size_t i = warm_up; i < all; ++i) {
      Forward(i);
      Backward(i - warm_up);
    }
    for (size_t i = all - warm_up; i < all; ++i) Backward(i);
    FinishBatch();
    if (!place_.last()) return {std::nullopt, job_.options.batch};
    return {loss_.item<double>(), job_.options.batch};
  }

 private:
  // What a stage keeps of a micro-batch between its forward and its backward.
  struct Flight {
    torch::Tensor input;
    torch::Tensor output;
  };
  struct Sent {
    std::vector<torch::Tensor> tensor;  // alive until it is sent
    c10::intrusive_ptr<c10d::Work> work;
  };

  // First and last stage draw the same samples, one for their tokens and one for their targets.
  // Only whole batches, as all stages must know how large one is.
  void MakeLoader(Text text) {
    TensorData data = TextWindows(std::move(text), options_.text.shape.context);
    const int64_t per_step = job_.options.batch * place_.replicas;
    const int64_t samples = data.inputs.size(0) / per_step * per_step;
    data.inputs = data.inputs.narrow(0, 0, samples);
    data.targets = data.targets.narrow(0, 0, samples);
    const BatchLoader::Shape shape{job_.options.batch, job_.options.workers, place_.replica,
                                   place_.replicas};
    loader_.emplace(std::move(data), shape, job_.faults);
  }

  void JoinGroups() {
    const auto join = [&](const std::vector<int>& ranks, const std::string& name) {
      return JoinSubgroup(job_.group, ranks, name, job_.env, job_.options.backend,
                          std::chrono::seconds(job_.options.timeout_s));
    };
    std::vector<int> pipeline;
    for (int i = 0; i < place_.stages; ++i) pipeline.push_back(place_.replica * place_.stages + i);
    pipeline_ = place_.replicas == 1 ? job_.group
                                     : join(pipeline, "pipeline_" + std::to_string(place_.replica));
    if (place_.replicas == 1) return;
    std::vector<int> replicas;
    for (int i = 0; i < place_.replicas; ++i) replicas.push_back(i * place_.stages + place_.stage);
    replicas_ = join(replicas, "stage_" + std::to_string(place_.stage));
  }

  void BeginBatch(int64_t step) {
    step_ = step;
    if (loader_) {
      const Batch batch = loader_->Next();
      inputs_ = batch.input.to(job_.device).chunk(options_.micro_batches);
      targets_ = batch.target.to(job_.device).chunk(options_.micro_batches);
      if (place_.first()) tutti_batch(batch.input.size(0), batch.input.numel());
    }
    flights_.assign(static_cast<size_t>(options_.micro_batches), {});
    loss_ = torch::zeros({}, job_.device);
  }

  void Forward(size_t index) {
    const Phase phase(TUTTI_PHASE_FORWARD);
    if (index == 0) InjectIntoForward(job_, step_);
    Flight& flight = flights_[index];
    flight.input = place_.first() ? inputs_[index] : Receive(place_.stage - 1);
    if (!place_.first()) flight.input.requires_grad_(true);
    const Imbalance imbalance(*this);
    flight.output = model_->forward(flight.input);
    if (place_.last()) {
      const auto parts = static_cast<double>(options_.micro_batches);
      flight.output = TokenLoss(flight.output, targets_[index]) / parts;
      loss_ += flight.output.detach();
    } else {
      Send(flight.output.detach(), place_.stage + 1);
    }
  }

  void Backward(size_t index) {
    const Phase phase(TUTTI_PHASE_BACKWARD);
    Flight flight = std::move(flights_[index]);
    torch::Tensor gradient;
    if (!place_.last()) gradient = Receive(place_.stage + 1);
    const Imbalance imbalance(*this);
    flight.output.backward(gradient);
    if (!place_.first()) Send(flight.input.grad(), place_.stage - 1);
  }

  void FinishBatch() {
    if (replicas_) {
      const Phase phase(TUTTI_PHASE_BACKWARD);
      AverageGradients(model_->parameters(), *replicas_);
    }
    {
      const Phase phase(TUTTI_PHASE_OPTIMIZER);
      optimizer_->Step();
      optimizer_->DropGradients();
    }
    for (Sent& sent : sent_) sent.work->wait();
    sent_.clear();
  }

  // Activations and their gradients have one shape. A stage has at most one message of a kind from
  // a neighbour to wait for, and they come in order.
  torch::Tensor Receive(int stage) {
    const int64_t samples = job_.options.batch / options_.micro_batches;
    const TransformerShape& shape = options_.text.shape;
    std::vector<torch::Tensor> tensor = {
        torch::empty({samples, shape.context, shape.width}, job_.device)};
    pipeline_->recv(tensor, stage, /*tag=*/0)->wait();
    return tensor[0];
  }

  void Send(const torch::Tensor& tensor, int stage) {
    Sent& sent = sent_.emplace_back(Sent{{tensor.contiguous()}, {}});
    sent.work = pipeline_->send(sent.tensor, stage, /*tag=*/0);
  }

  // The fault pipeline_imbalance: what is computed while the object lives takes longer.
  class Imbalance {
   public:
    explicit Imbalance(const Pipeline& pipeline)
        : device_(pipeline.job_.device),
          percent_(pipeline.job_.faults.Amount(FaultKind::kPipelineImbalance, pipeline.step_)) {}
    ~Imbalance() {
      if (percent_)
        ComputeFor((std::chrono::steady_clock::now() - begin_) * *percent_ / 100, device_);
    }
    Imbalance(const Imbalance&) = delete;
    Imbalance& operator=(const Imbalance&) = delete;

   private:
    const torch::Device device_;
    const std::optional<int64_t> percent_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };

  const Job& job_;
  PipelineOptions options_;
  const Place place_;
  std::string description_;
  Transformer model_{nullptr};
  std::optional<AdamW> optimizer_;
  std::optional<BatchLoader> loader_;                // of the first and the last stage
  c10::intrusive_ptr<c10d::ProcessGroup> pipeline_;  // by stage; null: one stage
  c10::intrusive_ptr<c10d::ProcessGroup> replicas_;  // of this stage; null: one

  // Of the step at hand.
  int64_t step_ = 0;
  std::vector<torch::Tensor> inputs_, targets_;  // by micro-batch
  std::vector<Flight> flights_;                  // by micro-batch
  std::vector<Sent> sent_;
  torch::Tensor loss_;
};

}  // namespace
}  // namespace tutti::workloads

int main(int argc, char** argv) {
  namespace workloads = tutti::workloads;
  using workloads::FaultKind;
  workloads::Options options;
  options.batch = 16;
  options.lr = 0.003;
  workloads::WithoutReducerFaults(options.carries);
  // Stages have to agree on how large a batch is.
  std::erase(options.carries, FaultKind::kDataImbalance);
  std::erase(options.carries, FaultKind::kShapeChurn);
  options.carries.push_back(FaultKind::kPipelineImbalance);
  workloads::PipelineOptions own;
  own.text.shape.layers = 4;
  const auto status = workloads::ParseOptions(
      "pipeline", "Trains a transformer whose layers are divided among ranks.", argc, argv, options,
      own.List());
  if (status) return *status;
  return workloads::RunTraining("pipeline", options, [&](const workloads::Job& job) {
    return std::make_unique<workloads::Pipeline>(job, own);
  });
}
