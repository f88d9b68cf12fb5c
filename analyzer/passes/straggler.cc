// Who makes the others wait, what that costs, and in which part of its own step it is
// slower than the others.
#include "analyzer/metrics/straggler.h"

#include <algorithm>
#include <array>
#include <map>

#include "analyzer/input/steps_that_count.h"
#include "analyzer/metrics/percentile.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

// Parts in which a rank can lose time of its own. Waiting for others is none.
struct OwnPart {
  const char* name;
  int64_t schema::StepBreakdownRow::*value;
};
constexpr std::array kOwnParts = {
    OwnPart{"compute", &schema::StepBreakdownRow::compute_ns},
    OwnPart{"exposed_copy", &schema::StepBreakdownRow::exposed_copy_ns},
    OwnPart{"input_wait", &schema::StepBreakdownRow::input_wait_ns},
    OwnPart{"sync", &schema::StepBreakdownRow::sync_ns},
    OwnPart{"host_bound", &schema::StepBreakdownRow::host_bound_ns},
    OwnPart{"idle", &schema::StepBreakdownRow::idle_ns},
};

// mean_ns[part][rank] over the steps that count.
using PartMeans = std::array<std::vector<int64_t>, kOwnParts.size()>;

Result<PartMeans> ReadPartMeans(RunContext& context, const std::map<int64_t, size_t>& steps,
                                const std::map<int64_t, size_t>& ranks) {
  PartMeans means;
  for (std::vector<int64_t>& part : means) part.assign(ranks.size(), 0);
  std::vector<int64_t> count(ranks.size(), 0);
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::StepBreakdownRow>(""));
  for (const schema::StepBreakdownRow& row : rows) {
    if (!steps.contains(row.step)) continue;
    const size_t rank = ranks.at(row.rank);
    ++count[rank];
    for (size_t part = 0; part < kOwnParts.size(); ++part) {
      means[part][rank] += row.*kOwnParts[part].value;
    }
  }
  for (std::vector<int64_t>& part : means) {
    for (size_t rank = 0; rank < part.size(); ++rank)
      part[rank] /= std::max<int64_t>(count[rank], 1);
  }
  return means;
}

void SetCause(const PartMeans& means, size_t rank, schema::StragglerRow& row) {
  for (size_t part = 0; part < kOwnParts.size(); ++part) {
    std::vector<int64_t> others = means[part];
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(rank));
    const std::optional<int64_t> usual = MedianOf(std::move(others));
    if (!usual) return;
    const int64_t excess_ns = means[part][rank] - *usual;
    if (excess_ns > row.cause_ns.value_or(0)) {
      row.cause = kOwnParts[part].name;
      row.cause_ns = excess_ns;
    }
  }
}

Status CountArrivals(RunContext& context, const std::map<int64_t, size_t>& steps,
                     std::map<int64_t, schema::StragglerRow>& rows) {
  constexpr const char* kCalls =
      "SELECT k.rank, c.step, c.last_rank IS k.rank FROM collective_call AS k"
      " JOIN collective AS c ON c.id = k.collective_id"
      " WHERE c.state = 'complete' AND c.ranks_expected > 1 AND c.step IS NOT NULL";
  TUTTI_ASSIGN_OR_RETURN(schema::Statement statement, context.derived().Prepare(kCalls));
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return OkStatus();
    TUTTI_ASSIGN_OR_RETURN(const int64_t rank, statement.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const int64_t step, statement.Get<int64_t>(1));
    TUTTI_ASSIGN_OR_RETURN(const int64_t is_last, statement.Get<int64_t>(2));
    if (!steps.contains(step)) continue;
    ++rows[rank].collectives;
    rows[rank].times_last += is_last;
  }
}

Status Run(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const auto ranks, context.Ranks());
  TUTTI_ASSIGN_OR_RETURN(const StepsThatCount counted, ReadStepsThatCount(context));
  const std::map<int64_t, size_t> steps = counted.Places();
  std::map<int64_t, size_t> place_of_rank;
  std::map<int64_t, schema::StragglerRow> rows;
  for (const schema::RankRow& rank : ranks) {
    place_of_rank.emplace(rank.rank, place_of_rank.size());
    rows[rank.rank].rank = rank.rank;
  }
  TUTTI_ASSIGN_OR_RETURN(const auto wait_rows, context.Read<schema::StepWaitForRow>(""));
  std::vector<ExposedWaitFor> waits;
  for (const schema::StepWaitForRow& row : wait_rows) {
    const auto step = steps.find(row.step);
    const auto late = place_of_rank.find(row.late_rank);
    if (step == steps.end() || late == place_of_rank.end()) continue;
    waits.push_back({step->second, place_of_rank.at(row.rank), late->second, row.wait_ns});
  }
  const std::vector<RankDelay> delays = RankDelays(waits, steps.size(), ranks.size());
  TUTTI_ASSIGN_OR_RETURN(const PartMeans means, ReadPartMeans(context, steps, place_of_rank));
  TUTTI_RETURN_IF_ERROR(CountArrivals(context, steps, rows));
  std::vector<schema::StragglerRow> list;
  for (auto& [rank, row] : rows) {
    const RankDelay& delay = delays[place_of_rank.at(rank)];
    row.own_wait_ns = delay.own_wait_ns;
    row.caused_wait_ns = delay.caused_wait_ns;
    row.cost_ns = delay.cost_ns;
    row.net_cost_ns = delay.net_cost_ns;
    row.noise_ns = delay.noise_ns;
    SetCause(means, place_of_rank.at(rank), row);
    list.push_back(row);
  }
  return context.Write(list);
}

constexpr PassCheck kChecks[] = {
    {"all waiting is caused by somebody",
     "SELECT coalesce(sum(own_wait_ns) <> sum(caused_wait_ns), 0) FROM straggler"},
};

}  // namespace

extern const Pass kStragglerPass;
const Pass kStragglerPass{"straggler", Run, kChecks};

}  // namespace tutti::analyzer
