// When each step's gradients were computed and when their communication was enqueued.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "analyzer/input/activity.h"
#include "analyzer/input/limits.h"
#include "analyzer/input/matched_calls.h"
#include "analyzer/input/step_index.h"
#include "analyzer/metrics/names.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

// The engine's range around a backward function and the hooks behind it, in which DDP
// enqueues its buckets.
constexpr std::string_view kEngineRange = "autograd::engine::evaluate_function";
constexpr std::string_view kAccumulate = "AccumulateGrad";

enum class BackwardRole { kNone, kFunction, kGradient };

BackwardRole RoleOf(std::string_view name, int32_t scope) {
  if (scope != kScopeBackward && !name.starts_with(kEngineRange)) return BackwardRole::kNone;
  const bool accumulates = name.find(kAccumulate) != std::string_view::npos;
  return accumulates && scope == kScopeBackward ? BackwardRole::kGradient : BackwardRole::kFunction;
}

Status CollectFunctions(RankTrace& trace, const StepIndex& steps, int64_t rank,
                        std::map<int64_t, schema::StepBackwardRow>& rows, int64_t& most_gradients) {
  TUTTI_ASSIGN_OR_RETURN(const auto ops, trace.Ops());
  std::unordered_map<int64_t, BackwardRole> roles;
  std::map<int64_t, int64_t> first_gradient_ns;  // by step
  std::map<int64_t, int64_t> gradients;          // by step
  for (const OpEvent& op : ops) {
    const auto [known, is_new] = roles.emplace(op.name_id * 256 + op.scope, BackwardRole::kNone);
    if (is_new) known->second = RoleOf(trace.Text(op.name_id), op.scope);
    if (known->second == BackwardRole::kNone) continue;
    const std::optional<int64_t> step = steps.ByHost(op.begin_ns);
    if (!step) continue;
    schema::StepBackwardRow& row = rows[*step];
    const bool is_first = row.end_ns == 0;
    row.rank = rank;
    row.step = *step;
    row.begin_ns = is_first ? op.begin_ns : std::min(row.begin_ns, op.begin_ns);
    row.end_ns = std::max(row.end_ns, op.end_ns);
    if (known->second != BackwardRole::kGradient) continue;
    most_gradients = std::max(most_gradients, ++gradients[*step]);
    const auto [first, is_first_gradient] = first_gradient_ns.emplace(*step, op.end_ns);
    if (!is_first_gradient) first->second = std::min(first->second, op.end_ns);
  }
  for (auto& [step, row] : rows) {
    const auto first = first_gradient_ns.find(step);
    row.first_gradient_ns = first == first_gradient_ns.end() ? row.begin_ns : first->second;
  }
  return OkStatus();
}

Status CountCalls(RunContext& context, int64_t rank,
                  std::map<int64_t, schema::StepBackwardRow>& rows) {
  constexpr const char* kCalls =
      "SELECT k.step, k.enqueue_ns, coalesce(c.bytes, 0) FROM collective_call AS k"
      " JOIN collective AS c ON c.id = k.collective_id"
      " WHERE k.rank = ?1 AND k.step IS NOT NULL AND k.enqueue_ns IS NOT NULL";
  TUTTI_ASSIGN_OR_RETURN(schema::Statement statement, context.derived().Prepare(kCalls));
  TUTTI_RETURN_IF_ERROR(statement.BindAll(rank));
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return OkStatus();
    TUTTI_ASSIGN_OR_RETURN(const int64_t step, statement.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const int64_t enqueue_ns, statement.Get<int64_t>(1));
    TUTTI_ASSIGN_OR_RETURN(const int64_t bytes, statement.Get<int64_t>(2));
    const auto row = rows.find(step);
    if (row == rows.end()) continue;
    ++row->second.calls;
    row->second.bytes = SaturatingAdd(row->second.bytes, bytes);
    if (enqueue_ns < row->second.end_ns) continue;
    ++row->second.calls_after;
    row->second.bytes_after = SaturatingAdd(row->second.bytes_after, bytes);
  }
}

Status BackwardOfRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace,
                      int64_t& most_gradients) {
  TUTTI_ASSIGN_OR_RETURN(const auto windows, context.Read<schema::StepWindowRow>(
                                                 "WHERE rank = ?1 ORDER BY step", rank.rank));
  std::map<int64_t, schema::StepBackwardRow> rows;
  TUTTI_RETURN_IF_ERROR(
      CollectFunctions(trace, StepIndex(windows), rank.rank, rows, most_gradients));
  if (rows.empty()) return OkStatus();
  TUTTI_RETURN_IF_ERROR(CountCalls(context, rank.rank, rows));

  TUTTI_ASSIGN_OR_RETURN(const auto lanes,
                         context.Read<schema::LaneRow>("WHERE rank = ?1", rank.rank));
  TUTTI_ASSIGN_OR_RETURN(const RankActivity activity, ReadActivity(rank, trace, lanes, {}));
  std::vector<schema::StepBackwardRow> list;
  for (auto& [step, row] : rows) {
    row.compute_ns =
        TotalNs(Clip(activity.sets.compute,
                     {row.first_gradient_ns, std::max(row.first_gradient_ns, row.end_ns)}));
    list.push_back(row);
  }
  return context.Write(list);
}

Status Run(RunContext& context) {
  int64_t most_gradients = 0;  // of a step, on any rank
  TUTTI_RETURN_IF_ERROR(context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return BackwardOfRank(context, rank, trace, most_gradients);
  }));
  if (most_gradients == 0) return OkStatus();
  return context.Write(std::vector<schema::RunMetricRow>{{"backward.gradients", most_gradients}});
}

constexpr PassCheck kChecks[] = {
    {"the first gradient lies inside the backward pass",
     "SELECT count(*) FROM step_backward WHERE first_gradient_ns NOT BETWEEN begin_ns AND end_ns"},
};

}  // namespace

extern const Pass kBackwardPass;
const Pass kBackwardPass{"backward", Run, kChecks};

}  // namespace tutti::analyzer
