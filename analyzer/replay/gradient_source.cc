#include "analyzer/replay/gradient_source.h"

#include <algorithm>
#include <map>

#include "analyzer/input/limits.h"
#include "analyzer/metrics/collective_timing.h"
#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer {
namespace {

// Of a communicator's all-reduces, those of gradients move at least so much.
constexpr double kGradientShare = 0.9;

struct Reduction {
  int64_t collective_id = 0;
  int64_t step = 0;
  int64_t bytes = 0;
  int64_t first_gradient_ns = 0;
};

struct Reductions {
  int64_t ranks = 0;
  int64_t bytes = 0;            // of all
  int64_t in_backward = 0;      // bytes of those below
  std::vector<Reduction> list;  // from backward on, by collective
};

// By communicator.
Result<std::map<int64_t, Reductions>> ReadReductions(RunContext& context) {
  constexpr const char* kReductions =
      "SELECT c.communicator_id, c.ranks_expected, c.id, k.step, c.bytes,"
      " max(b.first_gradient_ns), min(coalesce(k.enqueue_ns, k.arrival_ns) - b.begin_ns)"
      " FROM collective AS c JOIN collective_call AS k ON k.collective_id = c.id"
      " JOIN step_backward AS b ON b.step = k.step AND b.rank = k.rank"
      " WHERE c.op = 'all_reduce' AND c.state = 'complete' AND c.bytes > 0"
      " AND c.communicator_id IS NOT NULL GROUP BY c.id ORDER BY c.id";
  TUTTI_ASSIGN_OR_RETURN(schema::Statement rows, context.derived().Prepare(kReductions));
  std::map<int64_t, Reductions> by_communicator;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return by_communicator;
    TUTTI_ASSIGN_OR_RETURN(const int64_t communicator, rows.Get<int64_t>(0));
    Reductions& reductions = by_communicator[communicator];
    TUTTI_ASSIGN_OR_RETURN(reductions.ranks, rows.Get<int64_t>(1));
    Reduction reduction;
    TUTTI_ASSIGN_OR_RETURN(reduction.collective_id, rows.Get<int64_t>(2));
    TUTTI_ASSIGN_OR_RETURN(reduction.step, rows.Get<int64_t>(3));
    TUTTI_ASSIGN_OR_RETURN(reduction.bytes, rows.Get<int64_t>(4));
    TUTTI_ASSIGN_OR_RETURN(reduction.first_gradient_ns, rows.Get<int64_t>(5));
    TUTTI_ASSIGN_OR_RETURN(const int64_t after_ns, rows.Get<int64_t>(6));
    reductions.bytes = SaturatingAdd(reductions.bytes, reduction.bytes);
    if (after_ns < 0) continue;
    reductions.in_backward = SaturatingAdd(reductions.in_backward, reduction.bytes);
    reductions.list.push_back(reduction);
  }
}

// Buckets of one size don't tell what one without bytes takes: what small collectives of as many
// ranks take does.
Result<TransferCost> WithLatencyOfOthers(RunContext& context, TransferCost cost, int64_t ranks) {
  constexpr int64_t kSmallBytes = 64 << 10;
  TUTTI_ASSIGN_OR_RETURN(const auto others, context.Read<schema::CollectiveRow>(
                                                "WHERE state = 'complete' AND transfer_ns > 0 AND"
                                                " coalesce(bytes, 0) <= ?1 AND ranks_expected = ?2",
                                                kSmallBytes, ranks));
  std::vector<int64_t> transfers_ns;
  for (const schema::CollectiveRow& row : others) transfers_ns.push_back(*row.transfer_ns);
  cost.latency_ns = static_cast<double>(MedianOf(std::move(transfers_ns)).value_or(0));
  return cost;
}

// What handing one over takes the thread that does: c10d's operator, the median of the slowest
// rank.
Result<double> ReadHostNs(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const int64_t host_ns,
                         context.derived().QueryOne<int64_t>(
                             "SELECT coalesce(max(p50_ns), 0) FROM op_stats"
                             " WHERE kind = 'operator' AND name = 'c10d::allreduce_'"));
  return static_cast<double>(host_ns);
}

Result<TransferCost> ReadCost(RunContext& context, int64_t communicator, int64_t ranks) {
  TUTTI_ASSIGN_OR_RETURN(const auto fits,
                         context.Read<schema::CommFitRow>(
                             "WHERE communicator_id = ?1 AND op = 'all_reduce'", communicator));
  TransferCost cost{0, 1};  // scaled to what it took
  if (!fits.empty()) {
    const auto n = static_cast<double>(ranks);
    cost.latency_ns = static_cast<double>(fits[0].latency_ns);
    cost.ns_per_byte = fits[0].bus_gb_per_s ? 2 * (n - 1) / n / *fits[0].bus_gb_per_s : 0;
  }
  if (fits.empty() || fits[0].sizes < 2) {
    TUTTI_ASSIGN_OR_RETURN(cost, WithLatencyOfOthers(context, cost, ranks));
  }
  TUTTI_ASSIGN_OR_RETURN(cost.host_ns, ReadHostNs(context));
  return cost;
}

}  // namespace

Status FindGradients(RunContext& context, std::span<const CallEvents> calls, JobGraph& job) {
  TUTTI_ASSIGN_OR_RETURN(const auto by_communicator, ReadReductions(context));
  const std::pair<const int64_t, Reductions>* most = nullptr;
  for (const auto& entry : by_communicator) {
    const Reductions& own = entry.second;
    const double least = kGradientShare * static_cast<double>(own.bytes);
    if (static_cast<double>(own.in_backward) < least || own.list.empty()) continue;
    if (most == nullptr || own.in_backward > most->second.in_backward) most = &entry;
  }
  if (most == nullptr) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(job.gradients.cost, ReadCost(context, most->first, most->second.ranks));

  TUTTI_ASSIGN_OR_RETURN(const auto metrics,
                         context.Read<schema::RunMetricRow>("WHERE name = 'backward.gradients'"));
  if (!metrics.empty() && metrics[0].value) {
    const auto* const count = std::get_if<int64_t>(&*metrics[0].value);
    if (count != nullptr) job.gradients.parameters = *count;
  }

  std::map<int64_t, GradientStep> steps;
  for (const Reduction& reduction : most->second.list) {
    const auto own = std::equal_range(
        calls.begin(), calls.end(), CallEvents{reduction.collective_id, 0, 0, 0, 0},
        [](const CallEvents& a, const CallEvents& b) { return a.collective_id < b.collective_id; });
    if (own.first == own.second) continue;  // of a step that is not replayed
    GradientStep& step = steps[reduction.step];
    step.first_ns = std::max(step.first_ns, reduction.first_gradient_ns);
    GradientBucket bucket{reduction.bytes, {}};
    for (auto call = own.first; call != own.second; ++call) {
      bucket.calls.emplace_back(call->begin, call->end);
    }
    step.buckets.push_back(std::move(bucket));
  }
  for (auto& [number, step] : steps) job.gradients.steps.push_back(std::move(step));
  return OkStatus();
}

}  // namespace tutti::analyzer
