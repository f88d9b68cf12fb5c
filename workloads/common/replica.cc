#include "workloads/common/replica.h"

#include <torch/torch.h>

#include <cmath>
#include <stdexcept>
#include <thread>

#include "workloads/common/balance.h"
#include "workloads/common/dense.h"
#include "workloads/common/phase.h"

namespace tutti::workloads {
namespace {

// The fault skip_collective: the other ranks wait for this one, which never comes.
[[noreturn]] void StayAway(std::chrono::nanoseconds duration, int64_t step) {
  std::this_thread::sleep_for(duration);
  throw std::runtime_error("left out the all-reduce of step " + std::to_string(step) +
                           ", as injected");
}

DataParallel::BucketCaps Caps(const Job& job) {
  constexpr double kMebibyte = 1024.0 * 1024.0;
  constexpr int64_t kNoLimit = int64_t{1} << 40;
  if (job.faults.Amount(FaultKind::kSingleBucket)) return {kNoLimit, kNoLimit};
  const int64_t bytes = std::max<int64_t>(1, std::llround(job.options.bucket_mb * kMebibyte));
  return DataParallel::CapsOf(job.faults.Amount(FaultKind::kTinyBuckets).value_or(bytes));
}

at::ScalarType TypeNamed(const std::string& compress) {
  return compress == "fp16" ? at::kHalf : compress == "bf16" ? at::kBFloat16 : at::kFloat;
}

// Cuts the last tenth off |data| and returns it.
TensorData HoldOutTenth(TensorData& data) {
  const int64_t all = data.inputs.size(0);
  const int64_t kept = all - all / 10;
  TensorData held_out = data;
  held_out.inputs = data.inputs.narrow(0, kept, all - kept);
  held_out.targets = data.targets.narrow(0, kept, all - kept);
  data.inputs = data.inputs.narrow(0, 0, kept);
  data.targets = data.targets.narrow(0, 0, kept);
  return held_out;
}

}  // namespace

void Replica::Start(std::shared_ptr<torch::nn::Module> model, TensorData data,
                    std::string data_description) {
  const Options& options = job_.options;
  if (exchange_ == Exchange::kOwn && options.compress != "none") {
    throw std::runtime_error("--compress: this workload has no gradient all-reduce");
  }
  data_description_ = std::move(data_description);
  model_ = std::move(model);
  model_->to(job_.device);
  if (options.evaluate_every > 0) held_out_ = HoldOutTenth(data);
  loader_.emplace(std::move(data),
                  BatchLoader::Shape{options.batch, options.workers, share_.rank, share_.ranks},
                  job_.faults);
  if (!share_.group || exchange_ == Exchange::kOwn) return;
  data_parallel_.emplace(model_->parameters(), share_.group, Caps(job_),
                         TypeNamed(options.compress));
}

ReplicatedState Replica::Replicated() const { return {share_.group, model_->parameters()}; }

StepResult Replica::Step(int64_t step) {
  const Options& options = job_.options;
  const int64_t batches = options.accumulate;
  int64_t samples = 0;
  torch::Tensor loss;  // mean over the batches
  for (int64_t i = 0; i < batches; ++i) {
    const Batch batch = loader_->Next();
    if (share_.counts_samples) tutti_batch(batch.input.size(0), Tokens(batch));
    samples += batch.input.size(0);
    const bool exchange = i + 1 == batches;
    torch::Tensor part = Forward(batch, step, i == 0, exchange);
    if (batches > 1) part = part / static_cast<double>(batches);
    loss = loss.defined() ? loss + part.detach() : part.detach();
    // Each sample of the step counts as much, though ranks have more or fewer.
    if (options.balance_every > 0) {
      part = part * (static_cast<double>(batch.input.size(0)) / static_cast<double>(options.batch));
    }
    Backward(part, step, exchange);
  }
  {
    const Phase phase(TUTTI_PHASE_OPTIMIZER);
    Update(step);
  }
  Balance(step);
  return {loss.item<double>(), samples};
}

Batch Replica::OnDevice(const Batch& batch) const {
  return {batch.input.to(job_.device), batch.target.to(job_.device)};
}

torch::Tensor Replica::Forward(const Batch& batch, int64_t step, bool first, bool exchange) {
  const Phase phase(TUTTI_PHASE_FORWARD);
  if (data_parallel_ && exchange) data_parallel_->BeforeForward();
  const auto begin = std::chrono::steady_clock::now();
  if (first) InjectIntoForward(job_, step);
  torch::Tensor loss = Loss(OnDevice(batch), step);
  timed_ns_ += std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count();
  timed_samples_ += batch.input.size(0);
  return loss;
}

void Replica::Backward(const torch::Tensor& loss, int64_t step, bool exchange) {
  const Phase phase(TUTTI_PHASE_BACKWARD);
  const torch::Tensor scaled = Scaled(loss);
  if (data_parallel_ && exchange) {
    BackwardAndExchange(scaled, step);
  } else {
    scaled.backward();
  }
  AfterBackward(step, exchange);
}

void Replica::BackwardAndExchange(const torch::Tensor& loss, int64_t step) {
  const bool late = job_.faults.Has(FaultKind::kLateAllReduce, step);
  const auto stay_away_ns = job_.faults.Amount(FaultKind::kSkipCollective, step);
  const auto percent = job_.faults.Amount(FaultKind::kMismatchedSize, step);
  if (!late && !stay_away_ns && !percent) data_parallel_->BeforeBackward(loss);
  loss.backward();
  if (stay_away_ns) StayAway(std::chrono::nanoseconds(*stay_away_ns), step);
  if (percent) data_parallel_->AllReduceShare(*percent);
  if (late) data_parallel_->AllReduceNow();
}

std::vector<std::pair<std::string, double>> Replica::Evaluate() {
  if (!held_out_.inputs.defined()) return {};
  const torch::NoGradGuard no_grad;
  const Options& options = job_.options;
  model_->eval();
  std::vector<std::pair<std::string, double>> losses = {{"held-out", HeldOutLoss()}};
  const auto evaluate = [&](const std::string& name) {
    return [&, name] { losses.emplace_back(name, HeldOutLoss()); };
  };
  if (options.prune > 0) WithPruned(*model_, options.prune, evaluate("pruned"));
  if (options.int8) WithInt8(*model_, evaluate("int8"));
  model_->train();
  return losses;
}

double Replica::HeldOutLoss() {
  // As many on each rank, for the sake of collectives in the model.
  const int64_t each = held_out_.inputs.size(0) / share_.ranks;
  const torch::Tensor rows =
      torch::arange(share_.rank * each, (share_.rank + 1) * each, torch::kLong);
  torch::Tensor sums = torch::zeros({2}, torch::dtype(torch::kDouble));
  for (const torch::Tensor& part : rows.split(job_.options.batch)) {
    const Batch batch = OnDevice(Take(held_out_, part));
    sums[0] += Loss(batch, kNoStep).item<double>() * static_cast<double>(part.size(0));
    sums[1] += part.size(0);
  }
  std::vector<torch::Tensor> all = {sums.to(job_.device)};
  if (share_.group) share_.group->allreduce(all)->wait();
  return (all[0][0] / all[0][1]).item<double>();
}

// Divides the samples of a step among ranks by the speed of their last forwards, in which
// data-parallel ranks do not wait for each other.
void Replica::Balance(int64_t step) {
  const int64_t every = job_.options.balance_every;
  if (every == 0 || !share_.group || (step + 1) % every != 0 || timed_ns_ == 0) return;
  constexpr int64_t kPerSecond = 1'000'000'000;
  const int64_t speed = timed_samples_ * kPerSecond / timed_ns_;
  const std::vector<int64_t> speeds =
      AllGather(*share_.group, std::max<int64_t>(speed, 1), job_.device);
  loader_->set_batch(ShareOf(job_.options.batch, speeds, static_cast<size_t>(share_.rank)));
  timed_samples_ = 0;
  timed_ns_ = 0;
}

void Replica::Save(torch::serialize::OutputArchive& archive) const { model_->save(archive); }

std::string Replica::Summary() const {
  return data_parallel_ ? std::to_string(data_parallel_->buckets()) + " buckets" : "";
}

}  // namespace tutti::workloads
