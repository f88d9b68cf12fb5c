// Catalogue 24, 26, 29 and 30: collectives that are too small, too slow or not needed.
#include <algorithm>
#include <array>
#include <map>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {
namespace {

constexpr int64_t kBucketBytes = 25 << 20;  // DistributedDataParallel's default
constexpr int64_t kSmallBytes = 64 << 10;
constexpr int64_t kWakeNs = 100'000;  // until a thread runs on that has waited

constexpr std::array kKinds = {
    FindingKind{"barrier", "Ranks wait for each other in a barrier in every step (catalogue 30).",
                "mean over steps of the median over ranks of the time in barriers, from their call "
                "on and to that of one that follows within 100 µs, at most the step's exposed "
                "communication and host-bound time",
                "as above",
                "remove the barrier: collectives wait for all ranks anyway; metrics every n-th "
                "step"},
    FindingKind{"forward_collectives",
                "Many small collectives in forward, as of SyncBatchNorm (catalogue 29).",
                "mean over steps of the median over ranks of the time in collectives of at most 64 "
                "KiB that are enqueued before backward, at most the step's exposed communication",
                "as above, and at least eight a step",
                "fewer of them: BatchNorm per rank with a larger batch, GroupNorm, or one "
                "collective for several layers"},
    FindingKind{
        "small_buckets",
        "Gradients are communicated in many small collectives, whose latency adds up "
        "(catalogue 24).",
        "(collectives a step - those that 25 MiB buckets would need) * comm_fit.latency_ns, "
        "at most the exposed transfer",
        "as above; more than twice as many as needed", "bucket_cap_mb up"},
};

// Time of each rank in collectives of a step.
struct Times {
  std::map<std::pair<int64_t, int64_t>, int64_t> ns;  // by (step, rank)
  int64_t calls = 0;
  int64_t first_id = -1;
};

// What blocks its caller takes from the call on; what does not, from its arrival on.
enum class Caller { kIsBlocked, kGoesOn };

Result<Times> TimesOf(RunContext& context, const FindingFacts& facts, Caller caller,
                      const std::string& where) {
  const std::map<int64_t, size_t> places = facts.counted.Places();
  const std::string begin =
      caller == Caller::kIsBlocked ? "coalesce(k.enqueue_ns, k.arrival_ns)" : "k.arrival_ns";
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement statement,
      context.derived().Prepare("SELECT k.step, k.rank, c.id, " + begin +
                                ", k.end_ns FROM collective_call AS k"
                                " JOIN collective AS c ON c.id = k.collective_id"
                                " LEFT JOIN step_backward AS b ON b.step = k.step"
                                " AND b.rank = k.rank WHERE k.step IS NOT NULL AND k.end_ns"
                                " IS NOT NULL AND k.arrival_ns IS NOT NULL AND " +
                                where + " ORDER BY k.rank, 4, c.id"));
  Times times;
  std::pair<int64_t, int64_t> last;  // (step, rank)
  int64_t last_end_ns = 0;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return times;
    TUTTI_ASSIGN_OR_RETURN(const int64_t step, statement.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const int64_t rank, statement.Get<int64_t>(1));
    TUTTI_ASSIGN_OR_RETURN(const int64_t id, statement.Get<int64_t>(2));
    TUTTI_ASSIGN_OR_RETURN(const int64_t begin_ns, statement.Get<int64_t>(3));
    TUTTI_ASSIGN_OR_RETURN(const int64_t end_ns, statement.Get<int64_t>(4));
    if (!places.contains(step)) continue;
    int64_t& ns = times.ns[{step, rank}];
    ns += end_ns - begin_ns;
    const int64_t gap_ns = begin_ns - last_end_ns;
    const bool follows = caller == Caller::kIsBlocked && last == std::pair(step, rank);
    if (follows && gap_ns > 0 && gap_ns <= kWakeNs) ns += gap_ns;
    last = {step, rank};
    last_end_ns = end_ns;
    ++times.calls;
    if (times.first_id < 0 || id < times.first_id) times.first_id = id;
  }
}

int64_t ExposedNs(const schema::StepBreakdownRow& parts) {
  return parts.exposed_comm_wait_ns + parts.exposed_comm_transfer_ns +
         parts.exposed_comm_unsplit_ns;
}

// A call that blocks is issued, and woken from, in time outside of communication.
int64_t BlockedNs(const schema::StepBreakdownRow& parts) {
  return ExposedNs(parts) + parts.host_bound_ns;
}

// `calls_per_step`: at least so many on each rank; `most`: of a step that they can cost.
void FindByTime(const FindingFacts& facts, const Times& times, int64_t calls_per_step,
                int64_t (*most)(const schema::StepBreakdownRow&), const FindingKind& kind,
                const std::string& what, std::vector<FindingDraft>& drafts) {
  const auto steps = static_cast<int64_t>(facts.counted.steps.size());
  const auto ranks = static_cast<int64_t>(facts.ranks.size());
  if (steps == 0 || times.calls < calls_per_step * steps * ranks) return;
  const auto value = [&](const schema::StepBreakdownRow& parts) {
    const auto found = times.ns.find({parts.step, parts.rank});
    return found == times.ns.end() ? 0 : std::min(found->second, most(parts));
  };
  const std::vector<double> per_step = MedianPerStep(facts, value);
  const CostOfSteps cost = CostOver(facts, per_step);
  if (!IsWorthwhile(facts, cost)) return;
  FindingDraft draft = DraftOf(kind, facts, cost);
  draft.row.title = std::to_string(times.calls / steps / ranks) + " " + what + " a step take " +
                    Duration(cost.cost_ns);
  draft.row.cause = kind.kind;
  draft.row.advice = kind.advice;
  if (&kind == &kKinds[0]) {
    draft.row.advice += " (every 100th: " + Duration(cost.cost_ns / 100) + " per step instead)";
  }
  draft.evidence.push_back({0, 0, {}, "collective", times.first_id, {}, {}, "the first of them"});
  AddStepEvidence(facts, per_step, value, "in them", draft);
  drafts.push_back(std::move(draft));
}

struct Buckets {
  int64_t calls = 0;
  int64_t bytes = 0;
  int64_t latency_ns = 0;
  int64_t communicator_id = -1;
};

// The communicator over which most gradient bytes go, and its latency.
Result<Buckets> ReadBuckets(RunContext& context) {
  Buckets most;
  TUTTI_ASSIGN_OR_RETURN(
      const auto fits, context.Read<schema::CommFitRow>(
                           "WHERE sizes > 1 AND op LIKE '%reduce%' ORDER BY communicator_id, op"));
  for (const schema::CommFitRow& fit : fits) {
    Buckets buckets{0, 0, fit.latency_ns, fit.communicator_id};
    TUTTI_ASSIGN_OR_RETURN(
        const auto rows,
        context.Read<schema::CollectiveSummaryRow>(
            "WHERE communicator_id = ?1 AND op = ?2 AND bytes > 0", fit.communicator_id, fit.op));
    for (const schema::CollectiveSummaryRow& row : rows) {
      buckets.calls += row.count;
      buckets.bytes += row.count * row.bytes;
    }
    if (buckets.bytes > most.bytes) most = buckets;
  }
  return most;
}

Status FindSmallBuckets(RunContext& context, const FindingFacts& facts,
                        std::vector<FindingDraft>& drafts) {
  const auto steps = static_cast<int64_t>(facts.counted.steps.size());
  // Buckets that are all too late are told as that: their number is no concern then.
  if (steps == 0 || IsClaimed(drafts, "exposed_comm_transfer")) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const Buckets buckets, ReadBuckets(context));
  const int64_t calls = buckets.calls / steps;
  const int64_t bytes = buckets.bytes / steps;
  const int64_t needed = std::max<int64_t>((bytes + kBucketBytes - 1) / kBucketBytes, 1);
  if (calls <= 2 * needed) return OkStatus();
  const auto saved = static_cast<double>((calls - needed) * buckets.latency_ns);
  std::vector<double> per_step = MedianPerStep(
      facts, [](const schema::StepBreakdownRow& parts) { return parts.exposed_comm_transfer_ns; });
  for (double& ns : per_step) ns = std::min(ns, saved);
  const CostOfSteps cost = CostOver(facts, per_step);
  const std::optional<int64_t> replayed_ns = facts.SavedBy("bucket-mb=25");
  if (!IsWorthwhile(facts, cost, replayed_ns)) return OkStatus();
  FindingDraft draft = DraftOf(kKinds[2], facts, cost);
  draft.row.replayed_ns = replayed_ns;
  draft.row.title = std::to_string(calls) + " collectives a step move " +
                    std::to_string(bytes >> 10) + " KiB of gradients; each costs " +
                    Duration(buckets.latency_ns) + " before it moves anything";
  draft.row.cause = "exposed_comm_transfer";
  draft.row.advice = "bucket_cap_mb " + std::to_string(std::max<int64_t>(bytes / calls >> 20, 1)) +
                     " -> 25: " + std::to_string(needed) + " collectives a step instead of " +
                     std::to_string(calls);
  draft.evidence.push_back(
      {0, 0, {}, "comm_fit", buckets.communicator_id, {}, {}, "latency of this communicator"});
  AddStepEvidence(facts, per_step, ExposedNs, "of exposed communication", draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

Status FindCollectiveUse(RunContext& context, const FindingFacts& facts,
                         std::vector<FindingDraft>& drafts) {
  if (facts.ranks.size() < 2) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const Times barriers,
                         TimesOf(context, facts, Caller::kIsBlocked, "c.op = 'barrier'"));
  FindByTime(facts, barriers, 1, BlockedNs, kKinds[0], "barriers", drafts);
  TUTTI_ASSIGN_OR_RETURN(const Times forward,
                         TimesOf(context, facts, Caller::kGoesOn,
                                 "c.op <> 'barrier' AND c.bytes <= " + std::to_string(kSmallBytes) +
                                     " AND coalesce(k.enqueue_ns, k.arrival_ns) < b.begin_ns"));
  FindByTime(facts, forward, 8, ExposedNs, kKinds[1], "small collectives before backward", drafts);
  return FindSmallBuckets(context, facts, drafts);
}

}  // namespace

extern const FindingRule kCollectiveUseRule;
const FindingRule kCollectiveUseRule{kKinds, FindCollectiveUse};

}  // namespace tutti::analyzer
