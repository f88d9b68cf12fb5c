// Catalogue 13, and 11 on the CPU: what the operating system does to a rank, as its counters tell.
//
// cpu_contention: the training thread is ready to run and has no core. Bound per step: the share
// of time that it waits so, on the rank that waits most: the others wait for that one. Ranks
// whose processes use most of the cores are named: they have the threads that are too many. If
// none uses much more than one core, other processes have the rest, and all ranks suffer.
//
// host_alloc_churn: large blocks are taken from the system in every step, so that each of their
// pages is mapped and zeroed anew. Bound per step: time of the process in the kernel.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "analyzer/findings/rank_counters.h"
#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

constexpr double kMinWaitShare = 0.3;
// A process that computes in one thread and uses more than one core has threads too many; one
// that uses less is the victim of others.
constexpr double kOwnCores = 1.1;
constexpr int64_t kPageBytes = 4096;
constexpr int64_t kLargeBytes = 1 << 20;
constexpr double kLeastBytesPerStep = 4 << 20;

constexpr std::array kKinds = {
    FindingKind{
        "cpu_contention",
        "The training thread is ready to run, but other threads have the cores (catalogue "
        "13).",
        "mean over steps of the longest time of any rank that its first thread waits for a "
        "core (rate of process.main_run_delay at the step * its length)",
        "three tenths of a step: below that it is how ranks, their communication threads and "
        "the collector share a machine with few cores",
        "fewer threads (OMP_NUM_THREADS, num_workers) than cores, ranks bound to cores of "
        "their own (numactl, taskset, --cpu-bind), nothing else on the machine"},
    FindingKind{
        "host_alloc_churn",
        "Large blocks of host memory are taken from the system and given back in every "
        "step (catalogue 11, on the CPU).",
        "mean over steps of the longest time of any rank in the kernel (rate of "
        "process.cpu_system at the step * its length)",
        "as above; blocks of 1 MiB or more, 4 MiB a step or more, at least half of whose "
        "pages are new each time (process.minor_faults)",
        "reuse the buffer (out=, .copy_() into a tensor that is kept), or an allocator that "
        "keeps freed memory: LD_PRELOAD of jemalloc or tcmalloc, or glibc.malloc."
        "mmap_threshold and trim_threshold in GLIBC_TUNABLES"},
};

// Per step: the most of any rank that `counts`.
std::vector<double> MostPerStep(const FindingFacts& facts, const RankCounters& series,
                                const std::vector<bool>& counts) {
  std::vector<double> most;
  for (const schema::RunStepRow& step : facts.counted.steps) {
    double value = 0;
    for (size_t rank = 0; rank < series.size(); ++rank) {
      const auto window = facts.windows.find({step.step, facts.ranks[rank].rank});
      if (!counts[rank] || window == facts.windows.end()) continue;
      value = std::max(value, std::min(GrowthInStep(series[rank], window->second),
                                       static_cast<double>(window->second.step_ns)));
    }
    most.push_back(value);
  }
  return most;
}

std::vector<int64_t> AtLeastHalfOfMost(const FindingFacts& facts,
                                       const std::vector<double>& means) {
  const double most = *std::max_element(means.begin(), means.end());
  std::vector<int64_t> ranks;
  for (size_t rank = 0; rank < means.size(); ++rank) {
    if (means[rank] * 2 >= most) ranks.push_back(facts.ranks[rank].rank);
  }
  return ranks;
}

void AddWindows(const FindingFacts& facts, std::span<const double> per_step, int64_t rank,
                const std::string& what, FindingDraft& draft) {
  for (size_t i = 0; i < per_step.size() && draft.evidence.size() < 5; ++i) {
    if (per_step[i] < static_cast<double>(*draft.row.cost_ns)) continue;
    draft.evidence.push_back(StepEvidence(facts, facts.counted.steps[i].step, rank,
                                          Duration(std::llround(per_step[i])) + " " + what));
  }
}

Status FindContention(RunContext& context, const FindingFacts& facts,
                      std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const RankCounters delays,
                         ReadRankCounters(context, facts, "process.main_run_delay"));
  const std::vector<double> per_step =
      MostPerStep(facts, delays, std::vector<bool>(delays.size(), true));
  const CostOfSteps cost = CostOver(facts, per_step);
  const double least = kMinWaitShare * static_cast<double>(facts.step_mean_ns);
  if (!IsWorthwhile(facts, cost) || static_cast<double>(cost.cost_ns) < least) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const RankCounters used,
                         ReadRankCounters(context, facts, "process.cpu_user"));
  const std::vector<double> cores = MeanGrowthInSteps(facts, used);
  const double most = *std::max_element(cores.begin(), cores.end());
  const bool is_own = most >= kOwnCores * static_cast<double>(facts.step_mean_ns);
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  if (is_own) draft.ranks = AtLeastHalfOfMost(facts, cores);
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f", most / static_cast<double>(facts.step_mean_ns));
  draft.row.title = "the training thread waits " + Duration(cost.cost_ns) +
                    " per step for a core; " + RankList(draft.ranks) +
                    (draft.ranks.size() == 1 ? " uses " : " use ") + text +
                    (draft.ranks.size() == 1 ? " cores" : " cores each");
  if (!is_own) draft.row.title += " at most: other processes have the rest";
  draft.row.cause = is_own ? "cpu_contention" : "busy_machine";
  draft.row.advice = kKinds[0].advice;
  AddWindows(facts, per_step, draft.ranks.front(), "of waiting for a core", draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

// Bytes in large blocks that a rank allocates on the host per step that counts.
Result<double> LargeBytesPerStep(RunContext& context, const FindingFacts& facts,
                                 const schema::RankRow& rank) {
  TUTTI_ASSIGN_OR_RETURN(RankTrace* const trace, context.Trace(rank));
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace->MemoryEvents());
  if (facts.counted.steps.empty()) return 0.0;
  const int64_t begin_ns = facts.counted.steps.front().begin_ns;
  const int64_t end_ns = facts.counted.steps.back().end_ns;
  double bytes = 0;
  for (const MemoryEvent& event : events) {
    if (event.device_id != -1 || event.time_ns < begin_ns || event.time_ns >= end_ns) continue;
    if (event.delta_bytes.value_or(0) >= kLargeBytes) {
      bytes += static_cast<double>(*event.delta_bytes);
    }
  }
  return bytes / static_cast<double>(facts.counted.steps.size());
}

Status FindChurn(RunContext& context, const FindingFacts& facts,
                 std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const RankCounters faults,
                         ReadRankCounters(context, facts, "process.minor_faults"));
  const std::vector<double> pages = MeanGrowthInSteps(facts, faults);
  std::vector<bool> churns(facts.ranks.size(), false);
  std::vector<int64_t> ranks;
  double most_bytes = 0;
  for (size_t i = 0; i < facts.ranks.size(); ++i) {
    if (pages[i] * kPageBytes * 2 < kLeastBytesPerStep) continue;  // cheaper than the next
    TUTTI_ASSIGN_OR_RETURN(const double bytes, LargeBytesPerStep(context, facts, facts.ranks[i]));
    churns[i] = bytes >= kLeastBytesPerStep && pages[i] * kPageBytes * 2 >= bytes;
    if (!churns[i]) continue;
    ranks.push_back(facts.ranks[i].rank);
    most_bytes = std::max(most_bytes, bytes);
  }
  if (ranks.empty()) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const RankCounters system,
                         ReadRankCounters(context, facts, "process.cpu_system"));
  const std::vector<double> per_step = MostPerStep(facts, system, churns);
  const CostOfSteps cost = CostOver(facts, per_step);
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  FindingDraft draft = DraftOf(kKinds[1], facts, cost);
  draft.ranks = ranks;
  draft.row.title = RankList(ranks) + (ranks.size() == 1 ? " takes " : " take ") +
                    std::to_string(std::llround(most_bytes) >> 20) +
                    " MiB of fresh memory from the system in each step, which costs up to " +
                    Duration(cost.cost_ns) + " in the kernel";
  draft.row.cause = "host_allocation";
  draft.row.advice = kKinds[1].advice;
  AddWindows(facts, per_step, ranks.front(), "in the kernel", draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

Status FindCpuLoad(RunContext& context, const FindingFacts& facts,
                   std::vector<FindingDraft>& drafts) {
  if (facts.OnGpus() || facts.counted.steps.empty()) return OkStatus();
  TUTTI_RETURN_IF_ERROR(FindChurn(context, facts, drafts));
  return FindContention(context, facts, drafts);
}

}  // namespace

extern const FindingRule kCpuLoadRule;
const FindingRule kCpuLoadRule{kKinds, FindCpuLoad};

}  // namespace tutti::analyzer
