// Catalogue 13, and 11 on the CPU: what the operating system does to a rank, as its counters tell.
//
// cpu_contention: the training thread is ready to run and has no core. Bound per step: the share
// of time that it waits so, on the rank that waits most: the others wait for that one. Ranks
// whose processes use most of the cores are named: they have the threads that are too many. If
// none uses much more than one core, other processes have the rest, and all ranks suffer.
//
// host_alloc_churn: large blocks are taken from the system in every step, so that each of their
// pages is mapped and zeroed anew. Bound per step: kDearestFaultNs for each fault, no more faults
// than such blocks have pages, and no more than the time of the process in the kernel.
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
constexpr double kPageBytes = 4096;
constexpr int64_t kLargeBytes = 1 << 20;
// To map a page, zero it and give it back: 0.5 µs on a machine of one's own, 1.7 µs measured on a
// virtual one, whose page tables are nested.
constexpr double kDearestFaultNs = 2000;

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
        "mean over steps of 2 µs for each page fault (rate of process.minor_faults at the step * "
        "its length) of the rank that has most, at most as many as blocks of 1 MiB or more have "
        "pages, at most its time in the kernel (process.cpu_system)",
        "as above; half of the pages of such blocks are new each time",
        "reuse the buffer (out=, .copy_() into a tensor that is kept), or an allocator that "
        "keeps freed memory: LD_PRELOAD of jemalloc or tcmalloc, or glibc.malloc."
        "mmap_threshold and trim_threshold in GLIBC_TUNABLES"},
};

// Per step: the most of any rank of `value(place of the rank, window)`, but no more than the step.
template <typename Value>
std::vector<double> MostPerStep(const FindingFacts& facts, Value value) {
  std::vector<double> most;
  for (const schema::RunStepRow& step : facts.counted.steps) {
    double largest = 0;
    for (size_t rank = 0; rank < facts.ranks.size(); ++rank) {
      const auto window = facts.windows.find({step.step, facts.ranks[rank].rank});
      if (window == facts.windows.end()) continue;
      largest = std::max(largest, std::min(value(rank, window->second),
                                           static_cast<double>(window->second.step_ns)));
    }
    most.push_back(largest);
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
    if (std::llround(per_step[i]) < *draft.row.cost_ns) continue;
    draft.evidence.push_back(StepEvidence(facts, facts.counted.steps[i].step, rank,
                                          Duration(std::llround(per_step[i])) + " " + what));
  }
}

Status FindContention(RunContext& context, const FindingFacts& facts,
                      std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const RankCounters delays,
                         ReadRankCounters(context, facts, "process.main_run_delay"));
  const std::vector<double> per_step =
      MostPerStep(facts, [&](size_t rank, const schema::StepWindowRow& window) {
        return GrowthInStep(delays[rank], window);
      });
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

// Pages in large blocks that each rank takes per step, by place of the rank; 0 where less than half
// of them are new, or too few to matter.
Result<std::vector<double>> FreshPagesPerStep(RunContext& context, const FindingFacts& facts,
                                              const RankCounters& faults) {
  const std::vector<double> means = MeanGrowthInSteps(facts, faults);
  const double least = kMinShare * static_cast<double>(facts.step_mean_ns) / kDearestFaultNs;
  std::vector<double> pages(means.size(), 0);
  for (size_t rank = 0; rank < means.size(); ++rank) {
    if (means[rank] < least) continue;  // cheaper than the next
    TUTTI_ASSIGN_OR_RETURN(const double bytes,
                           LargeBytesPerStep(context, facts, facts.ranks[rank]));
    if (means[rank] * kPageBytes * 2 >= bytes) pages[rank] = bytes / kPageBytes;
  }
  return pages;
}

Status FindChurn(RunContext& context, const FindingFacts& facts,
                 std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const RankCounters faults,
                         ReadRankCounters(context, facts, "process.minor_faults"));
  TUTTI_ASSIGN_OR_RETURN(const std::vector<double> pages,
                         FreshPagesPerStep(context, facts, faults));
  std::vector<int64_t> ranks;
  for (size_t i = 0; i < pages.size(); ++i) {
    if (pages[i] > 0) ranks.push_back(facts.ranks[i].rank);
  }
  if (ranks.empty()) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const RankCounters system,
                         ReadRankCounters(context, facts, "process.cpu_system"));
  const std::vector<double> per_step =
      MostPerStep(facts, [&](size_t rank, const schema::StepWindowRow& window) {
        const double fresh = std::min(GrowthInStep(faults[rank], window), pages[rank]);
        return std::min(fresh * kDearestFaultNs, GrowthInStep(system[rank], window));
      });
  const CostOfSteps cost = CostOver(facts, per_step);
  if (!IsWorthwhile(facts, cost)) return OkStatus();
  FindingDraft draft = DraftOf(kKinds[1], facts, cost);
  draft.ranks = ranks;
  const double most = *std::max_element(pages.begin(), pages.end());
  draft.row.title = RankList(ranks) + (ranks.size() == 1 ? " takes " : " take ") +
                    std::to_string(std::llround(most * kPageBytes) >> 20) +
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
