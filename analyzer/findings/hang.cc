// Catalogue 37: a collective that some rank never entered.
//
// Every job that is killed leaves collectives behind that had not ended. It hung only if
// the others had waited far longer than any complete collective, and than the usual step
// that the hang is not in.
#include <algorithm>
#include <array>
#include <set>

#include "analyzer/findings/collective_text.h"
#include "analyzer/findings/rule.h"
#include "analyzer/findings/standstill.h"
#include "analyzer/metrics/collective_timing.h"
#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer {
namespace {

constexpr int64_t kMinStuckNs = 1'000'000'000;
constexpr int64_t kTimesTheUsual = 10;

struct StuckCollective {
  schema::CollectiveRow row;
  std::vector<schema::CollectiveCallRow> calls;
  std::string communicator;      // for people
  std::vector<int64_t> missing;  // members with a trace that never entered
  int64_t stuck_ns = 0;          // from the first arrival until its end or that of the trace
};

// Median over the steps that no incomplete collective touches on any rank: a step that
// holds the hang lasts as long as it. 0 if there is none.
Result<int64_t> UsualStep(RunContext& context) {
  constexpr const char* kUntouched = R"sql(
      SELECT w.step_ns FROM step_window AS w WHERE w.is_partial = 0 AND w.step NOT IN (
        SELECT step FROM collective WHERE state IN ('hung', 'open') AND step IS NOT NULL
        UNION
        SELECT touched.step FROM collective AS c
          JOIN collective_call AS k ON k.collective_id = c.id
          JOIN step_window AS touched ON touched.rank = k.rank
            AND touched.end_ns > coalesce(k.arrival_ns, k.enqueue_ns)
            AND (k.end_ns IS NULL OR touched.begin_ns < k.end_ns)
          WHERE c.state IN ('hung', 'open')))sql";
  TUTTI_ASSIGN_OR_RETURN(schema::Statement statement, context.derived().Prepare(kUntouched));
  std::vector<int64_t> step_ns;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool has_row, statement.Step());
    if (!has_row) return MedianOf(std::move(step_ns)).value_or(0);
    TUTTI_ASSIGN_OR_RETURN(const int64_t length_ns, statement.Get<int64_t>(0));
    step_ns.push_back(length_ns);
  }
}

// Longest that a complete collective took, or a step, in the usual course of things.
Result<int64_t> LongestUsual(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(
      const int64_t collective_ns,
      context.derived().QueryOne<int64_t>(
          "SELECT coalesce(max(k.end_ns - k.arrival_ns), 0) FROM collective AS c"
          " JOIN collective_call AS k ON k.collective_id = c.id WHERE c.state = 'complete'"));
  TUTTI_ASSIGN_OR_RETURN(const int64_t step_ns, UsualStep(context));
  return std::max(collective_ns, step_ns);
}

Result<std::vector<int64_t>> MissingRanks(RunContext& context, const FindingFacts& facts,
                                          const StuckCollective& stuck) {
  std::set<int64_t> missing;
  if (stuck.row.communicator_id) {
    // Members with a trace: those that know the communicator, or all ranks of a whole world.
    TUTTI_ASSIGN_OR_RETURN(const auto members,
                           context.Read<schema::RunCommunicatorMemberRow>(
                               "WHERE communicator_id = ?1", *stuck.row.communicator_id));
    for (const schema::RunCommunicatorMemberRow& member : members) missing.insert(member.rank);
    if (stuck.row.ranks_expected == static_cast<int64_t>(facts.ranks.size())) {
      for (const schema::RankRow& rank : facts.ranks) missing.insert(rank.rank);
    }
  }
  for (const schema::CollectiveCallRow& call : stuck.calls) missing.erase(call.rank);
  return std::vector<int64_t>(missing.begin(), missing.end());
}

// When a call ended at the latest. One without an end lasted until its rank did, unless
// the rank ended well or its trace has holes: then the end is only not in the trace.
std::optional<int64_t> EndOf(const FindingFacts& facts, const schema::CollectiveCallRow& call) {
  if (call.end_ns) return call.end_ns;
  for (const schema::RankRow& rank : facts.ranks) {
    if (rank.rank != call.rank || rank.exit_status == 0 || rank.events_lost > 0) continue;
    return rank.end_ns;
  }
  return std::nullopt;
}

int64_t StuckNs(const FindingFacts& facts, const std::vector<schema::CollectiveCallRow>& calls) {
  int64_t stuck_ns = 0;
  for (const schema::CollectiveCallRow& call : calls) {
    const std::optional<int64_t> began = call.arrival_ns ? call.arrival_ns : call.enqueue_ns;
    const std::optional<int64_t> end_ns = EndOf(facts, call);
    if (began && end_ns) stuck_ns = std::max(stuck_ns, *end_ns - *began);
  }
  return stuck_ns;
}

Result<std::vector<StuckCollective>> StuckCollectives(RunContext& context,
                                                      const FindingFacts& facts) {
  TUTTI_ASSIGN_OR_RETURN(const int64_t usual_ns, LongestUsual(context));
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::CollectiveRow>(
                                              "WHERE state IN ('hung', 'open') ORDER BY id"));
  std::vector<StuckCollective> all;
  for (const schema::CollectiveRow& row : rows) {
    StuckCollective stuck;
    stuck.row = row;
    TUTTI_ASSIGN_OR_RETURN(stuck.calls, context.Read<schema::CollectiveCallRow>(
                                            "WHERE collective_id = ?1 ORDER BY rank", row.id));
    stuck.stuck_ns = StuckNs(facts, stuck.calls);
    if (stuck.stuck_ns < std::max(kMinStuckNs, kTimesTheUsual * usual_ns)) continue;
    TUTTI_ASSIGN_OR_RETURN(stuck.missing, MissingRanks(context, facts, stuck));
    all.push_back(std::move(stuck));
  }
  return all;
}

// What a rank was doing when its trace ended: the innermost open operator, an open data
// wait, or its last operator.
Result<schema::FindingEvidenceRow> LastDoing(RunContext& context, const schema::RankRow& rank) {
  TUTTI_ASSIGN_OR_RETURN(RankTrace* const trace, context.Trace(rank));
  TUTTI_ASSIGN_OR_RETURN(
      const auto lanes,
      context.Read<schema::LaneRow>(
          "WHERE rank = ?1 AND role IN ('compute', 'host') AND kind = 'thread'", rank.rank));
  std::set<int64_t> training;
  for (const schema::LaneRow& lane : lanes) training.insert(lane.id);
  TUTTI_ASSIGN_OR_RETURN(const auto ops, trace->Ops());
  schema::FindingEvidenceRow row;
  row.rank = rank.rank;
  row.source = "cpu_op";
  row.note = "nothing of it was seen";
  const OpEvent* last = nullptr;
  for (const OpEvent& op : ops) {
    if (!training.contains(op.tid)) continue;
    const bool better = last == nullptr || (op.is_open && !last->is_open) ||
                        (op.is_open == last->is_open && op.begin_ns >= last->begin_ns);
    if (better) last = &op;
  }
  if (last != nullptr) {
    row.row_id = last->id;
    row.begin_ns = last->begin_ns;
    row.end_ns = last->end_ns;
    row.note = (last->is_open ? "was inside " : "last ran ") + trace->Text(last->name_id);
  }
  TUTTI_ASSIGN_OR_RETURN(const auto waits, trace->DataWaits());
  for (const schema::DataWaitRow& wait : waits) {
    if (wait.end_ns || !training.contains(wait.tid)) continue;
    row.source = "data_wait";
    row.row_id = wait.id;
    row.begin_ns = wait.begin_ns;
    row.end_ns = trace->end_ns();
    row.note = "was waiting for data from " + trace->Text(wait.loader_id);
  }
  if (rank.exit_status) row.note += "; it exited with " + std::to_string(*rank.exit_status);
  return row;
}

schema::FindingEvidenceRow CollectiveEvidence(const StuckCollective& stuck) {
  schema::FindingEvidenceRow row;
  row.source = "collective";
  row.row_id = stuck.row.id;
  for (const schema::CollectiveCallRow& call : stuck.calls) {
    if (!call.arrival_ns) continue;
    row.begin_ns = std::min(row.begin_ns.value_or(*call.arrival_ns), *call.arrival_ns);
    row.end_ns = *call.arrival_ns + stuck.stuck_ns;
  }
  row.note = std::to_string(stuck.row.ranks_seen) + " of " +
             std::to_string(stuck.row.ranks_expected) + " ranks entered it";
  return row;
}

Result<FindingDraft> DraftHang(RunContext& context, const FindingFacts& facts,
                               const StuckCollective& first, size_t others) {
  FindingDraft draft;
  TUTTI_ASSIGN_OR_RETURN(const std::string name, CollectiveName(context, first.row));
  draft.ranks = first.missing;
  draft.row.kind = "hang";
  draft.row.cause = first.row.op;
  draft.row.confidence = "high";
  draft.row.formula = "none: the job stopped";
  std::vector<int64_t> waiting;
  for (const schema::CollectiveCallRow& call : first.calls) waiting.push_back(call.rank);
  if (first.missing.empty()) {
    draft.row.title =
        "every rank entered " + name + ", which did not end for " + Duration(first.stuck_ns);
    draft.row.reason = "all members arrived";
    draft.row.advice =
        "look at the network between the ranks, and at the backend's log (NCCL_DEBUG, "
        "GLOO_SOCKET_IFNAME)";
  } else {
    draft.row.title = RankList(first.missing) + " never entered " + name + "; " +
                      RankList(waiting) + " waited for it " + Duration(first.stuck_ns);
    draft.row.reason = "the traces of all of them go on while the others wait";
    draft.row.advice =
        "make every rank issue the same collectives: look for a branch that depends "
        "on the rank or its data, an uneven number of batches, or a crash of " +
        RankList(first.missing);
  }
  draft.row.first_step = first.row.step;
  draft.row.last_step = first.row.step;
  draft.row.steps_seen = first.row.step ? 1 : 0;
  draft.evidence.push_back(CollectiveEvidence(first));
  if (others > 0) {
    draft.evidence.back().note +=
        "; " + std::to_string(others) + " more collectives hang behind it";
  }
  for (const schema::RankRow& rank : facts.ranks) {
    if (std::find(first.missing.begin(), first.missing.end(), rank.rank) == first.missing.end()) {
      continue;
    }
    TUTTI_ASSIGN_OR_RETURN(schema::FindingEvidenceRow doing, LastDoing(context, rank));
    draft.row.title += draft.evidence.size() == 1
                           ? "; rank " + std::to_string(rank.rank) + " " + doing.note
                           : std::string();
    draft.evidence.push_back(std::move(doing));
  }
  return draft;
}

Status FindHangs(RunContext& context, const FindingFacts& facts,
                 std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const bool was_dumped, WasDumped(context));
  // A flight recorder is dumped because the job stands still; it tells states, not times.
  if (was_dumped) return FindStandstill(context, facts, drafts);
  TUTTI_ASSIGN_OR_RETURN(const std::vector<StuckCollective> stuck,
                         StuckCollectives(context, facts));
  if (stuck.empty()) return OkStatus();
  // The first that some rank never entered holds up the rest; without one, the first open.
  const auto hung = std::find_if(stuck.begin(), stuck.end(),
                                 [](const StuckCollective& s) { return !s.missing.empty(); });
  const StuckCollective& first = hung == stuck.end() ? stuck.front() : *hung;
  TUTTI_ASSIGN_OR_RETURN(FindingDraft draft, DraftHang(context, facts, first, stuck.size() - 1));
  drafts.push_back(std::move(draft));
  return OkStatus();
}

constexpr std::array kKinds = {
    FindingKind{"hang",
                "A collective that some member never entered, or that never ended "
                "(catalogue 37).",
                "none: the job stopped",
                "the wait exceeds what is usual in the run by far, or a backend's timeout",
                "look at what the missing rank did last: its last call, data wait and stack are "
                "named"},
};

}  // namespace

extern const FindingRule kHangRule;
const FindingRule kHangRule{kKinds, FindHangs};

}  // namespace tutti::analyzer
