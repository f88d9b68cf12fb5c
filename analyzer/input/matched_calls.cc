#include "analyzer/input/matched_calls.h"

#include <algorithm>

namespace tutti::analyzer {

Result<std::vector<MatchedCall>> ReadMatchedCalls(RunContext& context,
                                                  const schema::RankRow& rank) {
  // wait_ns is clamped to the call; ready = arrival + wait is all that a split needs.
  constexpr const char* kCalls =
      "SELECT k.arrival_ns, k.end_ns, k.arrival_ns + k.wait_ns, c.last_rank, k.source_id"
      " FROM collective_call AS k JOIN collective AS c ON c.id = k.collective_id"
      " WHERE k.rank = ?1 AND k.arrival_ns IS NOT NULL ORDER BY k.collective_id";
  TUTTI_ASSIGN_OR_RETURN(schema::Statement statement, context.derived().Prepare(kCalls));
  TUTTI_RETURN_IF_ERROR(statement.BindAll(rank.rank));
  std::vector<MatchedCall> calls;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return calls;
    TUTTI_ASSIGN_OR_RETURN(const int64_t arrival_ns, statement.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const auto end_ns, statement.Get<std::optional<int64_t>>(1));
    MatchedCall call;
    call.interval = {arrival_ns, end_ns.value_or(std::max(arrival_ns, rank.end_ns))};
    TUTTI_ASSIGN_OR_RETURN(call.ready_ns, statement.Get<std::optional<int64_t>>(2));
    TUTTI_ASSIGN_OR_RETURN(call.late_rank, statement.Get<std::optional<int64_t>>(3));
    TUTTI_ASSIGN_OR_RETURN(call.source_id, statement.Get<int64_t>(4));
    calls.push_back(call);
  }
}

Result<RankActivity> ReadMatchedActivity(RunContext& context, const schema::RankRow& rank,
                                         RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto lanes,
                         context.Read<schema::LaneRow>("WHERE rank = ?1", rank.rank));
  TUTTI_ASSIGN_OR_RETURN(const std::vector<MatchedCall> calls, ReadMatchedCalls(context, rank));
  return ReadActivity(rank, trace, lanes, calls);
}

}  // namespace tutti::analyzer
