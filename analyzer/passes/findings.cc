// What costs time or went wrong: runs the rules, ranks what they found, stores it.
#include <algorithm>
#include <limits>
#include <map>

#include "analyzer/findings/python_line.h"
#include "analyzer/findings/rule.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

// What stopped the job first, then by what is saved: as replayed, else the bound.
int64_t PriorityOf(const FindingDraft& draft) {
  if (!draft.row.cost_ns) return std::numeric_limits<int64_t>::max();
  return draft.row.replayed_ns.value_or(*draft.row.cost_ns);
}

// A replay takes more away than its cause where that has company: a rank at the median has
// none of its own jitter either. Of such a saving no more than the bound is the cause's.
void CapReplayed(const FindingFacts& facts, schema::FindingRow& row) {
  if (!row.replayed_ns || !row.cost_ns) return;
  const double saved_ns = static_cast<double>(*row.replayed_ns);
  if (saved_ns < kMinShare * static_cast<double>(facts.step_mean_ns)) {
    row.confidence = "low";
    row.reason += "; the replay saves " + Duration(*row.replayed_ns) +
                  " only: without it something else takes the time";
  }
  if (*row.replayed_ns <= *row.cost_ns) return;
  row.reason +=
      "; the replay saves " + Duration(*row.replayed_ns) + ", what exceeds the bound is not its";
  row.replayed_ns = row.cost_ns;
}

bool IsOfCommunication(const FindingDraft& draft) {
  const std::string& cause = draft.row.cause.value_or("");
  return cause.starts_with("exposed_comm") || cause == "barrier" || cause == "forward_collectives";
}

// What to say of where in the program the evidence is; "" where that is not known. Of a step's
// window a line is named at which a quarter of it was spent at least.
std::string PlaceOf(PythonLines& lines, const schema::RankRow& rank, const FindingDraft& draft,
                    const schema::FindingEvidenceRow& row) {
  std::string line;
  if (row.source == "api_call" && row.row_id) {
    line = lines.OfApiCall(rank, *row.row_id);
    return line.empty() ? "" : "the longest is called at " + line;
  }
  if (!row.begin_ns || !row.end_ns) return "";
  const Interval range{*row.begin_ns, *row.end_ns};
  if (draft.row.cause == "input_wait") {
    line = lines.OfInputWait(rank, range);
    return line.empty() ? "" : "the longest wait is at " + line;
  }
  if (IsOfCommunication(draft)) {
    line = lines.OfCollective(rank, range);
    return line.empty() ? "" : "the longest collective is called at " + line;
  }
  const LineTime most = lines.OfMostTime(rank, range);
  if (most.line.empty() || 4 * most.ns < range.length_ns()) return "";
  return Duration(most.ns) + " of a step's " + Duration(range.length_ns()) + " pass at " +
         most.line;
}

// The line of the program that a finding's first evidence leads to, where Python's calls were
// recorded.
void AddPythonLines(const RunContext& context, const FindingFacts& facts,
                    std::vector<FindingDraft>& drafts) {
  std::map<int64_t, const schema::RankRow*> ranks;
  for (const schema::RankRow& rank : facts.ranks) ranks[rank.rank] = &rank;
  PythonLines lines(context);
  for (FindingDraft& draft : drafts) {
    for (schema::FindingEvidenceRow& row : draft.evidence) {
      const auto rank = row.rank ? ranks.find(*row.rank) : ranks.end();
      if (rank == ranks.end()) continue;
      const std::string place = PlaceOf(lines, *rank->second, draft, row);
      if (place.empty()) continue;
      row.note += "; " + place;
      draft.row.advice += "; " + place;
      break;
    }
  }
}

Status Store(RunContext& context, std::vector<FindingDraft>& drafts) {
  std::vector<schema::FindingRow> rows;
  std::vector<schema::FindingRankRow> ranks;
  std::vector<schema::FindingEvidenceRow> evidence;
  const auto kinds = AllFindingKindNames();
  for (FindingDraft& draft : drafts) {
    // A kind that the list lacks could not be named in a gate.
    if (std::find(kinds.begin(), kinds.end(), draft.row.kind) == kinds.end()) {
      return BadDataError("finding of unlisted kind " + draft.row.kind + "; please report this");
    }
    draft.row.id = static_cast<int64_t>(rows.size()) + 1;
    for (const int64_t rank : draft.ranks) ranks.push_back({draft.row.id, rank});
    for (size_t i = 0; i < draft.evidence.size(); ++i) {
      draft.evidence[i].finding_id = draft.row.id;
      draft.evidence[i].ordinal = static_cast<int64_t>(i);
      evidence.push_back(draft.evidence[i]);
    }
    rows.push_back(draft.row);
  }
  TUTTI_RETURN_IF_ERROR(context.Write(rows));
  TUTTI_RETURN_IF_ERROR(context.Write(ranks));
  return context.Write(evidence);
}

Status Run(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const FindingFacts facts, ReadFindingFacts(context));
  std::vector<FindingDraft> drafts;
  for (const FindingRule* rule : AllFindingRules()) {
    TUTTI_RETURN_IF_ERROR(rule->find(context, facts, drafts));
  }
  for (FindingDraft& draft : drafts) CapReplayed(facts, draft.row);
  AddPythonLines(context, facts, drafts);
  std::stable_sort(drafts.begin(), drafts.end(), [](const FindingDraft& a, const FindingDraft& b) {
    return PriorityOf(a) > PriorityOf(b);
  });
  return Store(context, drafts);
}

constexpr PassCheck kChecks[] = {
    {"no cost is negative", "SELECT count(*) FROM finding WHERE cost_ns < 0 OR share < 0"},
    {"no replay saves more than the bound",
     "SELECT count(*) FROM finding WHERE replayed_ns > cost_ns"},
    {"every finding says what to do", "SELECT count(*) FROM finding WHERE advice = ''"},
    {"every finding shows its evidence",
     "SELECT count(*) FROM finding WHERE id NOT IN (SELECT finding_id FROM finding_evidence)"},
};

}  // namespace

extern const Pass kFindingsPass;
const Pass kFindingsPass{"findings", Run, kChecks};

}  // namespace tutti::analyzer
