#include "workloads/common/training.h"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <numeric>

#include "tracer/annotate.h"
#include "workloads/common/data_parallel.h"
#include "workloads/common/nccl_module.h"
#include "workloads/common/phase.h"
#include "workloads/common/process_group.h"
#include "workloads/common/rank_env.h"

namespace tutti::workloads {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kReportEverySteps = 10;

class Trainer {
 public:
  Trainer(std::string name, const Job& job, Workload& workload)
      : name_(std::move(name)),
        job_(job),
        workload_(workload),
        reports_(job.env.rank == workload.reporter()) {}

  void Train() {
    for (int64_t step = 0; step < job_.options.steps; ++step) {
      const auto begin = Clock::now();
      tutti_step_begin(step);
      job_.loop_faults->BeginStep(step);
      Step(step);
      job_.loop_faults->EndStep(step);
      tutti_step_end();
      step_ns_.push_back(std::chrono::nanoseconds(Clock::now() - begin).count());
      if (reports_ && (step + 1) % kReportEverySteps == 0) {
        std::printf("step %4" PRId64 "  loss %.4f\n", step + 1, losses_.back());
        std::fflush(stdout);
      }
    }
  }

  // Compares the parameters of all ranks that hold them; true if their bits are equal.
  bool CheckParameters() {
    const ReplicatedState state = workload_.Replicated();
    const uint64_t checksum = Checksum(state.tensors);
    std::vector<int64_t> all = {static_cast<int64_t>(checksum)};
    if (state.group) all = AllGather(*state.group, all[0], job_.device);
    const bool equal =
        std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>()) == all.end();
    if (reports_) {
      std::printf("parameters %s on %zu rank%s: checksum %016" PRIx64 "\n",
                  equal ? "equal" : "DIFFER", all.size(), all.size() == 1 ? "" : "s", checksum);
    }
    return equal;
  }

  void Report() {
    if (!reports_) return;
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
    std::printf("rank %d: %" PRId64 " steps, %" PRId64 " samples", job_.env.rank,
                job_.options.steps, samples_);
    const std::string summary = workload_.Summary();
    if (!summary.empty()) std::printf(", %s", summary.c_str());
    if (job_.group) {
      std::printf(", %" PRIu64 " collectives", job_.group->getSequenceNumberForGroup());
    }
    std::printf("\n");
  }

 private:
  void Step(int64_t step) {
    const StepResult result = workload_.Step(step);
    samples_ += result.samples;
    if (result.loss) {
      losses_.push_back(*result.loss);
      tutti_counter("loss", *result.loss);
    }
    const Options& options = job_.options;
    if (IsDue(options.checkpoint_every, step)) SaveCheckpoint(step);
    if (IsDue(options.evaluate_every, step)) Evaluate(step);
  }

  static bool IsDue(int64_t every, int64_t step) { return every > 0 && (step + 1) % every == 0; }

  void SaveCheckpoint(int64_t step) {
    if (!workload_.saves()) return;
    const Phase phase(TUTTI_PHASE_CHECKPOINT);
    const std::string path = job_.options.checkpoint_dir + "/" + name_ + "-step" +
                             std::to_string(step + 1) + "-rank" + std::to_string(job_.env.rank) +
                             ".pt";
    torch::serialize::OutputArchive archive;
    workload_.Save(archive);
    archive.save_to(path);
  }

  void Evaluate(int64_t step) {
    const Phase phase(TUTTI_PHASE_EVALUATION);
    for (const auto& [name, loss] : workload_.Evaluate()) {
      tutti_counter((name + "_loss").c_str(), loss);
      if (!reports_) continue;
      std::printf("step %4" PRId64 "  %s loss %.4f\n", step + 1, name.c_str(), loss);
    }
  }

  const std::string name_;
  const Job& job_;
  Workload& workload_;
  const bool reports_;
  int64_t samples_ = 0;           // that this rank has trained on
  std::vector<double> losses_;    // of this rank, per step
  std::vector<int64_t> step_ns_;  // per step
};

// Several ranks on one machine must not each start a thread per core.
void SetThreads(const Options& options, const RankEnv& env) {
  const int automatic = env.local_world_size > 1 ? 1 : at::get_num_threads();
  at::set_num_threads(options.threads > 0 ? options.threads : automatic);
}

Job MakeJob(const Options& options, const RankEnv& env) {
  const bool nccl = options.backend == "nccl";
  if (nccl) LoadCuda();
  const auto device = nccl ? torch::Device(torch::kCUDA, static_cast<int8_t>(env.local_rank))
                           : torch::Device(torch::kCPU);
  Job job{options, env, device, FaultPlan(options.faults, env.rank), {}, {}};
  if (env.distributed) {
    job.group = JoinProcessGroup(env, options.backend, std::chrono::seconds(options.timeout_s));
  }
  job.loop_faults = std::make_unique<LoopFaults>(job.faults, job.device, job.group);
  return job;
}

void Announce(const std::string& name, const std::string& data, const Job& job) {
  const Options& options = job.options;
  const int ranks = job.env.world_size;
  std::printf("%s: %d rank%s%s%s, %" PRId64 " steps of %" PRId64 " samples a rank\n", name.c_str(),
              ranks, ranks == 1 ? "" : "s", job.group ? ", " : ", no process group",
              job.group ? options.backend.c_str() : "", options.steps, options.batch);
  std::printf("data: %s\n", data.c_str());
  for (const Fault& fault : options.faults) {
    const std::string truth = FaultTruth(fault, ranks, options.steps);
    std::printf("fault: %s\n", truth.c_str());
    tutti_truth(truth.c_str());
  }
  std::fflush(stdout);
}

bool Run(const std::string& name, const Options& options, const RankEnv& env,
         const WorkloadMaker& make) {
  SetThreads(options, env);
  const Job job = MakeJob(options, env);
  torch::manual_seed(static_cast<uint64_t>(options.seed));
  const std::unique_ptr<Workload> workload = make(job);
  if (env.rank == 0) Announce(name, workload->DataDescription(), job);
  Trainer trainer(name, job, *workload);
  trainer.Train();
  const bool equal = trainer.CheckParameters();
  trainer.Report();
  return equal;
}

}  // namespace

int RunTraining(const std::string& name, const Options& options, const WorkloadMaker& make) {
  RankEnv env;
  try {
    env = RankEnv::Read();
    return Run(name, options, env, make) ? 0 : 1;
  } catch (const c10::Error& error) {
    std::fprintf(stderr, "%s: rank %d: %s\n", name.c_str(), env.rank,
                 error.what_without_backtrace());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: rank %d: %s\n", name.c_str(), env.rank, error.what());
  }
  return 1;
}

}  // namespace tutti::workloads
