// Catalogue 32: one rank makes the others wait.
//
// Bound per step: what its lateness costs the others, less what the median other rank's
// costs (straggler.net_cost_ns): jitter that all ranks share is not its fault. The cause
// is the part of its own step that is longest against the median of the others.
//
// It is told if as much of the lateness is the rank's own doing: what its own parts of a step
// (all but communication) take longer than those of the others, less what its training thread
// waits for a core because it is served worse than theirs. On a machine with few cores one of two
// equal ranks often shares its core with more of the others' threads for a whole short run.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analyzer/findings/rank_counters.h"
#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

struct CauseText {
  const char* what;  // in the title
  const char* advice;
};

CauseText TextOf(const std::string& cause) {
  static const std::map<std::string, CauseText> kTexts = {
      {"compute",
       {"computes longer",
        "compare its work and its machine with the others': tokens or samples per rank "
        "(DistributedSampler, length buckets, drop_last), clocks and throttling, other load on its "
        "cores or GPU"}},
      {"host_bound",
       {"spends longer outside operators",
        "look at what its host thread does there (logging, checkpoints, Python, garbage "
        "collection) and who shares its cores (CPU binding, OMP_NUM_THREADS)"}},
      {"exposed_copy", {"copies longer", "pinned memory, non_blocking copies, its PCIe link"}},
      {"sync",
       {"is blocked in synchronisation longer",
        "drop .item() and prints from the step, or do them "
        "every n-th step"}},
      {"input_wait",
       {"waits longer for input", "its data loader: num_workers, a faster or cached data set"}},
      {"idle", {"is idle longer", "record it with more sources to see why"}},
  };
  const auto found = kTexts.find(cause);
  return found == kTexts.end() ? CauseText{"arrives late", "compare its machine with the others'"}
                               : found->second;
}

// Why it is late may be told already: a late loader, a slow GPU; or that it does other work, if
// that costs at least half as much.
bool IsTold(const FindingFacts& facts, const schema::StragglerRow& straggler,
            const std::vector<FindingDraft>& drafts) {
  return std::any_of(drafts.begin(), drafts.end(), [&](const FindingDraft& draft) {
    // Stages wait for one another by their nature: who is late without a reason of its own is not
    // to blame.
    if (draft.row.kind == "pipeline_bubble" && !straggler.cause) return true;
    const bool is_enough = draft.row.cost_ns.value_or(0) >= straggler.net_cost_ns / 2;
    // What a rank without cores, or with a thousand operators more, does late is its symptom.
    if (draft.row.cause == "cpu_contention") return is_enough;
    // Nor is it late on the whole if it alone pauses now and then, and hardly beyond that.
    if (draft.row.cause == "pause") {
      const int64_t rest_ns = straggler.net_cost_ns - draft.row.cost_ns.value_or(0);
      return draft.ranks == std::vector{straggler.rank} &&
             static_cast<double>(rest_ns) < kMinShare * static_cast<double>(facts.step_mean_ns);
    }
    const bool is_work =
        draft.row.cause == "tiny_operators" || draft.row.cause == "host_allocation";
    const bool is_cause =
        is_work ? is_enough : draft.row.cause && draft.row.cause == straggler.cause;
    return is_cause &&
           std::find(draft.ranks.begin(), draft.ranks.end(), straggler.rank) != draft.ranks.end();
  });
}

// Steps in which its lateness costs most first.
Result<std::vector<schema::StepLatenessRow>> LatenessOf(RunContext& context, int64_t rank) {
  return context.Read<schema::StepLatenessRow>("WHERE rank = ?1 ORDER BY cost_ns DESC, step", rank);
}

void SetReach(const FindingFacts& facts, const std::vector<schema::StepLatenessRow>& rows,
              CostOfSteps& cost) {
  for (const schema::StepLatenessRow& row : rows) {
    const double least = kMinShare * static_cast<double>(facts.step_mean_ns);
    if (static_cast<double>(row.cost_ns) < least) continue;
    ++cost.steps_seen;
    cost.first_step = std::min(cost.first_step.value_or(row.step), row.step);
    cost.last_step = std::max(cost.last_step.value_or(row.step), row.step);
  }
}

FindingDraft Draft(const FindingFacts& facts, const schema::StragglerRow& straggler,
                   const CostOfSteps& cost, const std::vector<schema::StepLatenessRow>& rows) {
  const CauseText text = TextOf(straggler.cause.value_or(""));
  FindingDraft draft;
  draft.ranks = {straggler.rank};
  draft.row.kind = "straggler";
  draft.row.cause = straggler.cause;
  draft.row.title = "rank " + std::to_string(straggler.rank) + " is last in " +
                    std::to_string(straggler.times_last) + " of " +
                    std::to_string(straggler.collectives) + " collectives: it " + text.what;
  if (straggler.cause_ns) draft.row.title += " (" + Duration(*straggler.cause_ns) + " per step)";
  draft.row.formula =
      "straggler.net_cost_ns: mean over steps of step_lateness.cost_ns, less that of the median "
      "other rank";
  draft.row.advice = text.advice;
  draft.row.replayed_ns = facts.SavedBy("rank-at-median=" + std::to_string(straggler.rank));
  SetCost(facts, cost, draft.row);
  for (size_t i = 0; i < std::min<size_t>(rows.size(), 5); ++i) {
    draft.evidence.push_back(StepEvidence(facts, rows[i].step, straggler.rank,
                                          Duration(rows[i].late_ns) +
                                              " later than the median of the others; they wait " +
                                              Duration(rows[i].others_wait_ns)));
  }
  return draft;
}

// A value less the lower median of the others.
double ExcessOf(const std::vector<double>& values, size_t own) {
  std::vector<double> others;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i != own) others.push_back(values[i]);
  }
  if (others.empty()) return 0;
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>((others.size() - 1) / 2);
  std::nth_element(others.begin(), middle, others.end());
  return values[own] - *middle;
}

// Mean over the steps that count of all parts of a step but communication, by place of the rank.
std::vector<double> MeanOwnWork(const FindingFacts& facts) {
  std::vector<double> means(facts.ranks.size(), 0);
  for (size_t rank = 0; rank < means.size(); ++rank) {
    double count = 0;
    for (const StepParts& step : facts.breakdown) {
      const auto& parts = step[rank];
      if (!parts) continue;
      means[rank] +=
          static_cast<double>(parts->step_ns - parts->exposed_comm_wait_ns -
                              parts->exposed_comm_transfer_ns - parts->exposed_comm_unsplit_ns);
      count += 1;
    }
    if (count > 0) means[rank] /= count;
  }
  return means;
}

// By how much longer each rank waits for a core than it would if it were served like the others:
// who has more to do waits more often, and does not wait for that reason alone.
std::vector<double> ServedWorse(const std::vector<double>& work, const std::vector<double>& waits) {
  std::vector<double> shares;
  for (size_t rank = 0; rank < work.size(); ++rank) {
    shares.push_back(work[rank] > 0 ? std::min(waits[rank] / work[rank], 1.0) : 0);
  }
  std::vector<double> worse;
  for (size_t rank = 0; rank < work.size(); ++rank) {
    worse.push_back(std::max(ExcessOf(shares, rank), 0.0) * work[rank]);
  }
  return worse;
}

// By how much longer each rank works in a step than the others do, by place of the rank. Being
// served worse is no work; on a GPU the device works, whatever the host waits for.
Result<std::vector<int64_t>> OwnExcess(RunContext& context, const FindingFacts& facts) {
  const std::vector<double> work = MeanOwnWork(facts);
  std::vector<double> worse(work.size(), 0);
  if (!facts.OnGpus()) {
    TUTTI_ASSIGN_OR_RETURN(const RankCounters delays,
                           ReadRankCounters(context, facts, "process.main_run_delay"));
    worse = ServedWorse(work, MeanGrowthInSteps(facts, delays));
  }
  std::vector<int64_t> excess;
  for (size_t rank = 0; rank < work.size(); ++rank) {
    excess.push_back(std::llround(ExcessOf(work, rank) - worse[rank]));
  }
  return excess;
}

// What of the lateness is certain; see above.
bool IsCertain(const FindingFacts& facts, const schema::StragglerRow& straggler,
               int64_t own_excess_ns) {
  CostOfSteps cost;
  cost.cost_ns = std::min(straggler.net_cost_ns, own_excess_ns);
  cost.noise_ns = straggler.noise_ns;
  return IsWorthwhile(facts, cost,
                      facts.SavedBy("rank-at-median=" + std::to_string(straggler.rank)));
}

Status FindStragglers(RunContext& context, const FindingFacts& facts,
                      std::vector<FindingDraft>& drafts) {
  if (facts.ranks.size() < 2) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const std::vector<int64_t> excess, OwnExcess(context, facts));
  for (size_t place = 0; place < facts.stragglers.size(); ++place) {
    const schema::StragglerRow& straggler = facts.stragglers[place];
    if (!IsCertain(facts, straggler, excess[place]) || IsTold(facts, straggler, drafts)) continue;
    CostOfSteps cost;
    cost.cost_ns = straggler.net_cost_ns;
    cost.noise_ns = straggler.noise_ns;
    TUTTI_ASSIGN_OR_RETURN(const auto rows, LatenessOf(context, straggler.rank));
    SetReach(facts, rows, cost);
    drafts.push_back(Draft(facts, straggler, cost, rows));
  }
  return OkStatus();
}

constexpr std::array kKinds = {
    FindingKind{"straggler", "One rank makes the others wait in collectives (catalogue 13 and 32).",
                "straggler.net_cost_ns: mean over steps of step_lateness.cost_ns, less that of the "
                "median other rank",
                "as above, net of what the median other rank costs: jitter that all share is not "
                "its fault; so much of the lateness is the rank's own work, less what its "
                "training thread waits for a core more often than the others' do",
                "by the part of its own step that exceeds the others': work per rank, clocks, "
                "other load, CPU binding, copies, loader"},
};

}  // namespace

extern const FindingRule kStragglerRule;
const FindingRule kStragglerRule{kKinds, FindStragglers};

}  // namespace tutti::analyzer
