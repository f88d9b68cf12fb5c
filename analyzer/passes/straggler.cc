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

// Rows of the steps that count, and where they go in series over ranks and steps.
struct Facts {
  std::vector<schema::RankRow> ranks;
  StepsThatCount counted;
  std::map<int64_t, size_t> step_place;
  std::map<int64_t, size_t> rank_place;
  std::vector<schema::StepBreakdownRow> breakdown;
  std::vector<ExposedWaitFor> waits;

  RankSeries Zeros() const {
    return RankSeries(ranks.size(), std::vector<int64_t>(step_place.size(), 0));
  }
};

Result<Facts> ReadFacts(RunContext& context) {
  Facts facts;
  TUTTI_ASSIGN_OR_RETURN(facts.ranks, context.Ranks());
  TUTTI_ASSIGN_OR_RETURN(facts.counted, ReadStepsThatCount(context));
  facts.step_place = facts.counted.Places();
  for (const schema::RankRow& rank : facts.ranks) {
    facts.rank_place.emplace(rank.rank, facts.rank_place.size());
  }
  TUTTI_ASSIGN_OR_RETURN(facts.breakdown, context.Read<schema::StepBreakdownRow>(""));
  std::erase_if(facts.breakdown,
                [&](const auto& row) { return !facts.step_place.contains(row.step); });
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::StepWaitForRow>(""));
  for (const schema::StepWaitForRow& row : rows) {
    const auto step = facts.step_place.find(row.step);
    const auto late = facts.rank_place.find(row.late_rank);
    if (step == facts.step_place.end() || late == facts.rank_place.end()) continue;
    facts.waits.push_back({step->second, facts.rank_place.at(row.rank), late->second, row.wait_ns});
  }
  return facts;
}

// [rank][step]: exposed communication of the median other rank.
RankSeries OthersExposed(const Facts& facts) {
  RankSeries exposed = facts.Zeros();
  for (const schema::StepBreakdownRow& row : facts.breakdown) {
    exposed[facts.rank_place.at(row.rank)][facts.step_place.at(row.step)] =
        row.exposed_comm_wait_ns + row.exposed_comm_transfer_ns + row.exposed_comm_unsplit_ns;
  }
  RankSeries others = facts.Zeros();
  for (size_t rank = 0; rank < exposed.size(); ++rank) {
    for (size_t step = 0; step < exposed[rank].size(); ++step) {
      std::vector<int64_t> values;
      for (size_t other = 0; other < exposed.size(); ++other) {
        if (other != rank) values.push_back(exposed[other][step]);
      }
      others[rank][step] = MedianOf(std::move(values)).value_or(0);
    }
  }
  return others;
}

// When each rank handed in a collective: enqueued it (CPU), or its kernel began (GPU:
// the host runs ahead of the device).
struct HandIn {
  std::vector<size_t> ranks;
  std::vector<int64_t> times_ns;
};

// The last complete collective with a common wait of each step. [step]; empty: none.
Result<std::vector<HandIn>> LastHandIns(RunContext& context, const Facts& facts) {
  constexpr const char* kCalls =
      "SELECT c.id, c.step, k.rank, coalesce(k.enqueue_ns, k.arrival_ns), k.arrival_ns"
      " FROM collective AS c JOIN collective_call AS k ON k.collective_id = c.id"
      " WHERE c.state = 'complete' AND c.ready_ns IS NOT NULL AND c.ranks_expected > 1"
      " AND c.step IS NOT NULL ORDER BY c.id, k.rank";  // ids are in the order of ready times
  TUTTI_ASSIGN_OR_RETURN(schema::Statement statement, context.derived().Prepare(kCalls));
  std::vector<HandIn> last(facts.step_place.size());
  std::vector<int64_t> last_id(facts.step_place.size(), -1);
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return last;
    TUTTI_ASSIGN_OR_RETURN(const int64_t id, statement.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const int64_t step, statement.Get<int64_t>(1));
    TUTTI_ASSIGN_OR_RETURN(const int64_t rank, statement.Get<int64_t>(2));
    TUTTI_ASSIGN_OR_RETURN(const int64_t enqueue_ns, statement.Get<int64_t>(3));
    TUTTI_ASSIGN_OR_RETURN(const int64_t arrival_ns, statement.Get<int64_t>(4));
    const auto place = facts.step_place.find(step);
    if (place == facts.step_place.end()) continue;
    HandIn& hand_in = last[place->second];
    if (last_id[place->second] != id) hand_in = {};
    last_id[place->second] = id;
    const size_t rank_place = facts.rank_place.at(rank);
    hand_in.ranks.push_back(rank_place);
    hand_in.times_ns.push_back(facts.ranks[rank_place].device_kind == "gpu" ? arrival_ns
                                                                            : enqueue_ns);
  }
}

// Costs of all ranks and steps, and the rows that say how they came about.
Result<RankSeries> WriteLateness(RunContext& context, const Facts& facts) {
  TUTTI_ASSIGN_OR_RETURN(const std::vector<HandIn> hand_ins, LastHandIns(context, facts));
  RankSeries late = facts.Zeros();
  for (size_t step = 0; step < hand_ins.size(); ++step) {
    const std::vector<int64_t> lateness = LatenessOf(hand_ins[step].times_ns);
    for (size_t i = 0; i < lateness.size(); ++i) late[hand_ins[step].ranks[i]][step] = lateness[i];
  }
  const RankSeries others_wait =
      MedianWaits(facts.waits, facts.step_place.size(), facts.ranks.size());
  const RankSeries others_exposed = OthersExposed(facts);
  RankSeries cost = facts.Zeros();
  std::vector<schema::StepLatenessRow> rows;
  for (size_t rank = 0; rank < cost.size(); ++rank) {
    for (size_t step = 0; step < cost[rank].size(); ++step) {
      cost[rank][step] = std::max<int64_t>(
          0, CostOfLateness(others_wait[rank][step], late[rank][step], others_exposed[rank][step]));
      if (cost[rank][step] == 0) continue;
      rows.push_back({facts.counted.steps[step].step, facts.ranks[rank].rank, late[rank][step],
                      others_wait[rank][step], cost[rank][step]});
    }
  }
  TUTTI_RETURN_IF_ERROR(context.Write(rows));
  return cost;
}

// mean_ns[part][rank] over the steps that count.
using PartMeans = std::array<std::vector<int64_t>, kOwnParts.size()>;

PartMeans MeansOfParts(const Facts& facts) {
  PartMeans means;
  for (std::vector<int64_t>& part : means) part.assign(facts.ranks.size(), 0);
  std::vector<int64_t> count(facts.ranks.size(), 0);
  for (const schema::StepBreakdownRow& row : facts.breakdown) {
    const size_t rank = facts.rank_place.at(row.rank);
    ++count[rank];
    for (size_t part = 0; part < kOwnParts.size(); ++part) {
      means[part][rank] += row.*kOwnParts[part].value;
    }
  }
  for (std::vector<int64_t>& part : means) {
    for (size_t rank = 0; rank < part.size(); ++rank) {
      part[rank] /= std::max<int64_t>(count[rank], 1);
    }
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

Status CountArrivals(RunContext& context, const Facts& facts,
                     std::vector<schema::StragglerRow>& rows) {
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
    if (!facts.step_place.contains(step)) continue;
    schema::StragglerRow& row = rows[facts.rank_place.at(rank)];
    ++row.collectives;
    row.times_last += is_last;
  }
}

Status Run(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const Facts facts, ReadFacts(context));
  TUTTI_ASSIGN_OR_RETURN(const RankSeries cost, WriteLateness(context, facts));
  const std::vector<RankDelay> delays = RankDelays(cost);
  const PartMeans means = MeansOfParts(facts);
  std::vector<schema::StragglerRow> rows(facts.ranks.size());
  for (const ExposedWaitFor& wait : facts.waits) {
    rows[wait.rank].own_wait_ns += wait.wait_ns;
    rows[wait.late_rank].caused_wait_ns += wait.wait_ns;
  }
  TUTTI_RETURN_IF_ERROR(CountArrivals(context, facts, rows));
  for (size_t rank = 0; rank < rows.size(); ++rank) {
    rows[rank].rank = facts.ranks[rank].rank;
    rows[rank].cost_ns = delays[rank].cost_ns;
    rows[rank].net_cost_ns = delays[rank].net_cost_ns;
    rows[rank].noise_ns = delays[rank].noise_ns;
    SetCause(means, rank, rows[rank]);
  }
  return context.Write(rows);
}

constexpr PassCheck kChecks[] = {
    {"all waiting is caused by somebody",
     "SELECT coalesce(sum(own_wait_ns) <> sum(caused_wait_ns), 0) FROM straggler"},
};

}  // namespace

extern const Pass kStragglerPass;
const Pass kStragglerPass{"straggler", Run, kChecks};

}  // namespace tutti::analyzer
