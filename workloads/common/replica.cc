#include "workloads/common/replica.h"

#include <torch/torch.h>

#include <cmath>
#include <stdexcept>
#include <thread>

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

}  // namespace

void Replica::Start(std::vector<at::Tensor> parameters, TensorData data,
                    std::string data_description) {
  const Options& options = job_.options;
  data_description_ = std::move(data_description);
  parameters_ = std::move(parameters);
  loader_.emplace(
      std::move(data),
      BatchLoader::Shape{options.batch, options.workers, job_.env.rank, job_.env.world_size},
      job_.faults);
  if (!job_.group) return;
  data_parallel_.emplace(parameters_, job_.group, Caps(job_));
}

StepResult Replica::Step(int64_t step) {
  const Batch batch = loader_->Next();
  tutti_batch(batch.input.size(0), 0);
  const torch::Tensor loss = Forward(batch, step);
  Backward(loss, step);
  {
    const Phase phase(TUTTI_PHASE_OPTIMIZER);
    Update(step);
  }
  return {loss.item<double>(), batch.input.size(0)};
}

torch::Tensor Replica::Forward(const Batch& batch, int64_t step) {
  const Phase phase(TUTTI_PHASE_FORWARD);
  if (data_parallel_) data_parallel_->BeforeForward();
  InjectIntoForward(job_, step);
  return Loss({batch.input.to(job_.device), batch.target.to(job_.device)});
}

void Replica::Backward(const torch::Tensor& loss, int64_t step) {
  const Phase phase(TUTTI_PHASE_BACKWARD);
  const bool late = job_.faults.Has(FaultKind::kLateAllReduce, step);
  const auto stay_away_ns = job_.faults.Amount(FaultKind::kSkipCollective, step);
  const auto percent = job_.faults.Amount(FaultKind::kMismatchedSize, step);
  const bool stops = stay_away_ns || percent;
  if (data_parallel_ && !late && !stops) data_parallel_->BeforeBackward(loss);
  loss.backward();
  if (data_parallel_ && stay_away_ns) StayAway(std::chrono::nanoseconds(*stay_away_ns), step);
  if (data_parallel_ && percent) data_parallel_->AllReduceShare(*percent);
  if (data_parallel_ && late) data_parallel_->AllReduceNow();
}

std::string Replica::Summary() const {
  return data_parallel_ ? std::to_string(data_parallel_->buckets()) + " buckets" : "";
}

}  // namespace tutti::workloads
