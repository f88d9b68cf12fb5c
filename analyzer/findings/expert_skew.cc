// Catalogue 36: all-to-alls in which one rank has much more to send than the others, as of experts
// or embedding rows that are asked for more often.
//
// Bound per step: time of each all-to-all times (1 - mean / largest payload): with the same payload
// on all ranks it would take as long as the mean one does.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analyzer/findings/rule.h"
#include "schema/trace_file.h"

namespace tutti::analyzer {
namespace {

// Draws alone make parts of an all-to-all differ by some percent.
constexpr double kLeastSkew = 1.2;

constexpr std::array kKinds = {
    FindingKind{"skewed_experts",
                "Ranks send parts of different size in all-to-alls, one of them much more than "
                "the others: experts or embedding rows that are asked for more often (catalogue "
                "36).",
                "mean over steps of the sum over all-to-alls of the time (transfer, least over "
                "ranks) * (1 - mean payload / largest payload)",
                "as above; one rank's payload is at least 1.2 times the mean in the mean "
                "all-to-all whose payloads differ",
                "balance the routing (auxiliary loss, capacity factor, expert choice), or spread "
                "the rows that are asked for most over ranks"},
};

// What each rank sends in the all-to-alls, by collective.id.
using Payloads = std::map<int64_t, std::map<int64_t, double>>;

Status AddPayloads(RunContext& context, const schema::RankRow& rank, Payloads& payloads) {
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement calls,
      context.derived().Prepare("SELECT k.source_id, c.id FROM collective_call AS k JOIN collective"
                                " AS c ON c.id = k.collective_id WHERE c.op LIKE 'all_to_all%'"
                                " AND c.state = 'complete' AND k.rank = ?1"));
  TUTTI_RETURN_IF_ERROR(calls.BindAll(rank.rank));
  std::map<int64_t, int64_t> collective_of;  // by collective_source.id
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, calls.Step());
    if (!found) break;
    TUTTI_ASSIGN_OR_RETURN(const int64_t source, calls.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const int64_t collective, calls.Get<int64_t>(1));
    collective_of[source] = collective;
  }
  if (collective_of.empty()) return OkStatus();
  const TraceFile& file = context.files().traces[static_cast<size_t>(rank.input_file_id)];
  TUTTI_ASSIGN_OR_RETURN(schema::Database database,
                         schema::OpenRankFile(file.path, {.quick_check = false}));
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement sources,
      database.Prepare("SELECT id, bytes FROM collective_source WHERE bytes IS NOT NULL"));
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, sources.Step());
    if (!found) return OkStatus();
    TUTTI_ASSIGN_OR_RETURN(const int64_t id, sources.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const int64_t bytes, sources.Get<int64_t>(1));
    const auto collective = collective_of.find(id);
    if (collective == collective_of.end()) continue;
    payloads[collective->second][rank.rank] = static_cast<double>(bytes);
  }
}

struct Skew {
  std::vector<double> cost_per_step;
  std::map<int64_t, double> times_mean;  // by rank: sum over uneven all-to-alls of own / mean
  double uneven = 0;                     // all-to-alls whose payloads differ
  int64_t worst_id = -1;                 // collective.id of the most uneven one
  double worst = 0;
};

// One all-to-all of all ranks.
void Add(const std::map<int64_t, double>& bytes, int64_t id, int64_t transfer_ns, size_t place,
         Skew& skew) {
  double sum = 0;
  double most = 0;
  for (const auto& [rank, own] : bytes) {
    sum += own;
    most = std::max(most, own);
  }
  const double mean = sum / static_cast<double>(bytes.size());
  if (mean <= 0 || most <= mean) return;
  skew.cost_per_step[place] += static_cast<double>(transfer_ns) * (1 - mean / most);
  skew.uneven += 1;
  for (const auto& [rank, own] : bytes) skew.times_mean[rank] += own / mean;
  if (most / mean > skew.worst) {
    skew.worst = most / mean;
    skew.worst_id = id;
  }
}

Result<Skew> ReadSkew(RunContext& context, const FindingFacts& facts) {
  Payloads payloads;
  for (const schema::RankRow& rank : facts.ranks) {
    TUTTI_RETURN_IF_ERROR(AddPayloads(context, rank, payloads));
  }
  const std::map<int64_t, size_t> places = facts.counted.Places();
  Skew skew;
  skew.cost_per_step.assign(places.size(), 0);
  TUTTI_ASSIGN_OR_RETURN(const auto collectives,
                         context.Read<schema::CollectiveRow>(
                             "WHERE op LIKE 'all_to_all%' AND state = 'complete' ORDER BY id"));
  for (const schema::CollectiveRow& row : collectives) {
    const auto found = payloads.find(row.id);
    if (found == payloads.end() || !row.step || !places.contains(*row.step)) continue;
    if (static_cast<int64_t>(found->second.size()) != row.ranks_expected) continue;
    Add(found->second, row.id, row.transfer_ns.value_or(row.duration_ns.value_or(0)),
        places.at(*row.step), skew);
  }
  return skew;
}

Status FindSkew(RunContext& context, const FindingFacts& facts, std::vector<FindingDraft>& drafts) {
  if (facts.ranks.size() < 2) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const Skew skew, ReadSkew(context, facts));
  if (skew.uneven == 0) return OkStatus();
  const auto most = std::max_element(skew.times_mean.begin(), skew.times_mean.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  const double ratio = most->second / skew.uneven;
  const CostOfSteps cost = CostOver(facts, skew.cost_per_step);
  if (ratio < kLeastSkew || !IsWorthwhile(facts, cost)) return OkStatus();
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  draft.ranks.clear();
  for (const auto& [rank, times] : skew.times_mean) {
    if (times >= kLeastSkew * skew.uneven) draft.ranks.push_back(rank);
  }
  draft.row.title = RankList(draft.ranks) + (draft.ranks.size() == 1 ? " has " : " have up to ") +
                    Percent(ratio - 1) + " more than the mean rank in all-to-alls, which take " +
                    Duration(cost.cost_ns) + " per step longer for it";
  draft.row.cause = "skewed_experts";
  draft.row.advice = kKinds[0].advice;
  draft.evidence.push_back(
      {0, 0, {}, "collective", skew.worst_id, {}, {}, "the most uneven of them"});
  AddStepEvidence(
      facts, skew.cost_per_step,
      [](const schema::StepBreakdownRow& parts) { return parts.exposed_comm_transfer_ns; },
      "of exposed transfer", draft);
  drafts.push_back(std::move(draft));
  return OkStatus();
}

}  // namespace

extern const FindingRule kExpertSkewRule;
const FindingRule kExpertSkewRule{kKinds, FindSkew};

}  // namespace tutti::analyzer
