#include "workloads/common/training.h"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>

#include "tracer/annotate.h"
#include "workloads/common/data_parallel.h"
#include "workloads/common/nccl_module.h"
#include "workloads/common/process_group.h"
#include "workloads/common/rank_env.h"

namespace tutti::workloads {
namespace {

using std::chrono::nanoseconds;
using Clock = std::chrono::steady_clock;

constexpr int64_t kReportEverySteps = 10;

// A phase of the step for as long as the object lives.
class Phase {
 public:
  explicit Phase(tutti_phase phase) { tutti_phase_begin(phase); }
  ~Phase() { tutti_phase_end(); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;
};

// The fault extra_compute: multiplies matrices, as a model would, until the time is over.
void ComputeFor(nanoseconds duration, torch::Device device) {
  constexpr int64_t kSide = 256;  // about a millisecond on one core
  const torch::NoGradGuard no_grad;
  const auto end = Clock::now() + duration;
  const torch::Tensor matrix = torch::eye(kSide, device);
  while (Clock::now() < end) torch::mm(matrix, matrix);
}

class Trainer {
 public:
  Trainer(const Options& options, const RankEnv& env, TrainingTask task)
      : options_(options),
        env_(env),
        task_(std::move(task)),
        device_(options.backend == "nccl"
                    ? torch::Device(torch::kCUDA, static_cast<c10::DeviceIndex>(env.local_rank))
                    : torch::Device(torch::kCPU)),
        faults_(options.faults, env.rank) {
    task_.model->to(device_);
    parameters_ = task_.model->parameters();
    optimizer_.emplace(parameters_, torch::optim::SGDOptions(options.lr));
    loader_.emplace(std::move(task_.data),
                    BatchLoader::Shape{options.batch, options.workers, env.rank, env.world_size},
                    faults_);
    if (env_.distributed) Join();
  }

  // Trains; returns the number of samples that this rank has seen.
  int64_t Train() {
    int64_t samples = 0;
    for (int64_t step = 0; step < options_.steps; ++step) {
      const auto begin = Clock::now();
      tutti_step_begin(step);
      samples += Step(step);
      tutti_step_end();
      step_ns_.push_back(nanoseconds(Clock::now() - begin).count());
      if (env_.rank == 0 && (step + 1) % kReportEverySteps == 0) {
        std::printf("step %4" PRId64 "  loss %.4f\n", step + 1, losses_.back());
        std::fflush(stdout);
      }
    }
    return samples;
  }

  // Compares the parameters of all ranks; true if their bits are equal. Reports on rank 0.
  bool CheckParameters() {
    const uint64_t checksum = Checksum(parameters_);
    std::vector<int64_t> all = {static_cast<int64_t>(checksum)};
    if (group_) all = AllGather(*group_, static_cast<int64_t>(checksum), device_);
    const bool equal =
        std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>()) == all.end();
    if (env_.rank == 0) {
      std::printf("parameters %s on %zu rank%s: checksum %016" PRIx64 "\n",
                  equal ? "equal" : "DIFFER", all.size(), all.size() == 1 ? "" : "s", checksum);
    }
    return equal;
  }

  void Report(int64_t samples) {
    if (env_.rank != 0) return;
    const size_t window = std::min<size_t>(kReportEverySteps, losses_.size());
    const auto mean = [&](auto begin) {
      return std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(window), 0.0) /
             static_cast<double>(window);
    };
    std::printf("loss %.4f -> %.4f (means of the first and last %zu steps)\n",
                mean(losses_.begin()), mean(losses_.end() - static_cast<std::ptrdiff_t>(window)),
                window);
    const auto middle = step_ns_.begin() + static_cast<std::ptrdiff_t>(step_ns_.size() / 2);
    std::nth_element(step_ns_.begin(), middle, step_ns_.end());
    std::printf("step time median %.3f ms\n", static_cast<double>(*middle) / 1e6);
    std::printf("rank 0: %" PRId64 " steps, %" PRId64 " samples", options_.steps, samples);
    if (group_) {
      std::printf(", %zu buckets, %" PRIu64 " collectives", data_parallel_->buckets(),
                  group_->getSequenceNumberForGroup());
    }
    std::printf("\n");
  }

 private:
  void Join() {
    group_ = JoinProcessGroup(env_, options_.backend, std::chrono::seconds(options_.timeout_s));
    constexpr double kMebibyte = 1024.0 * 1024.0;
    data_parallel_.emplace(parameters_, group_,
                           std::max<int64_t>(1, std::llround(options_.bucket_mb * kMebibyte)));
  }

  // One step; returns its number of samples.
  int64_t Step(int64_t step) {
    const Batch batch = loader_->Next();
    tutti_batch(batch.input.size(0), 0);
    const torch::Tensor loss = Forward(batch, step);
    Backward(loss, step);
    {
      const Phase phase(TUTTI_PHASE_OPTIMIZER);
      optimizer_->step();
      optimizer_->zero_grad();
    }
    losses_.push_back(loss.item<double>());
    tutti_counter("loss", losses_.back());
    return batch.input.size(0);
  }

  torch::Tensor Forward(const Batch& batch, int64_t step) {
    const Phase phase(TUTTI_PHASE_FORWARD);
    if (data_parallel_) data_parallel_->BeforeForward();
    if (const auto extra_ns = faults_.AmountNs(FaultKind::kExtraCompute, step)) {
      ComputeFor(nanoseconds(*extra_ns), device_);
    }
    const torch::Tensor output = task_.model->forward(batch.input.to(device_));
    return task_.loss(output, batch.target.to(device_));
  }

  void Backward(const torch::Tensor& loss, int64_t step) {
    const Phase phase(TUTTI_PHASE_BACKWARD);
    const bool late = faults_.AmountNs(FaultKind::kLateAllReduce, step).has_value();
    const auto stay_away_ns = faults_.AmountNs(FaultKind::kSkipCollective, step);
    if (data_parallel_ && !late && !stay_away_ns) data_parallel_->BeforeBackward(loss);
    loss.backward();
    if (data_parallel_ && stay_away_ns) StayAway(nanoseconds(*stay_away_ns), step);
    if (data_parallel_ && late) data_parallel_->AllReduceNow();
  }

  // The fault skip_collective: the other ranks wait for this one, which never comes.
  [[noreturn]] void StayAway(nanoseconds duration, int64_t step) {
    std::this_thread::sleep_for(duration);
    throw std::runtime_error("left out the all-reduce of step " + std::to_string(step) +
                             ", as injected");
  }

  const Options& options_;
  const RankEnv& env_;
  TrainingTask task_;
  torch::Device device_;
  FaultPlan faults_;
  std::vector<torch::Tensor> parameters_;
  std::optional<torch::optim::SGD> optimizer_;
  std::optional<BatchLoader> loader_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  std::optional<DataParallel> data_parallel_;
  std::vector<double> losses_;    // of this rank, per step
  std::vector<int64_t> step_ns_;  // per step
};

// Several ranks on one machine must not each start a thread per core.
void SetThreads(const Options& options, const RankEnv& env) {
  const int automatic = env.local_world_size > 1 ? 1 : at::get_num_threads();
  at::set_num_threads(options.threads > 0 ? options.threads : automatic);
}

void Announce(const TrainingTask& task, const Options& options, const RankEnv& env) {
  std::printf("%s: %d rank%s%s%s, %" PRId64 " steps of %" PRId64 " samples a rank\n",
              task.name.c_str(), env.world_size, env.world_size == 1 ? "" : "s",
              env.distributed ? ", " : ", no process group",
              env.distributed ? options.backend.c_str() : "", options.steps, options.batch);
  std::printf("data: %s\n", task.data_description.c_str());
  for (const Fault& fault : options.faults) {
    const std::string truth = FaultTruth(fault, env.world_size, options.steps);
    std::printf("fault: %s\n", truth.c_str());
    tutti_truth(truth.c_str());
  }
  std::fflush(stdout);
}

bool Run(const Options& options, const RankEnv& env, const TaskMaker& make_task) {
  if (options.backend == "nccl") LoadCuda();
  SetThreads(options, env);
  torch::manual_seed(static_cast<uint64_t>(options.seed));
  TrainingTask task = make_task(options);
  if (env.rank == 0) Announce(task, options, env);
  Trainer trainer(options, env, std::move(task));
  const int64_t samples = trainer.Train();
  const bool equal = trainer.CheckParameters();
  trainer.Report(samples);
  return equal;
}

}  // namespace

int RunTraining(const std::string& name, const Options& options, const TaskMaker& make_task) {
  RankEnv env;
  try {
    env = RankEnv::Read();
    return Run(options, env, make_task) ? 0 : 1;
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "%s: rank %d: %s\n", name.c_str(), env.rank,
                 error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: rank %d: %s\n", name.c_str(), env.rank, error.what());
  }
  return 1;
}

}  // namespace tutti::workloads
