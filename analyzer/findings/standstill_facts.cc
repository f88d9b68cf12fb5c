#include "analyzer/findings/standstill_facts.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "analyzer/metrics/collective_timing.h"
#include "analyzer/metrics/communicators.h"
#include "analyzer/metrics/stack_frames.h"

namespace tutti::analyzer {
namespace {

using Place = std::pair<int64_t, int64_t>;  // communicator, rank

// A call out of collective_call that has not ended.
struct OpenRow {
  int64_t collective = 0;
  int64_t rank = 0;
  int64_t source = 0;
  int64_t began_ns = 0;
};

Result<std::vector<OpenRow>> ReadOpenRows(RunContext& context) {
  constexpr const char* kOpen = R"sql(
      SELECT k.collective_id, k.rank, k.source_id, coalesce(k.enqueue_ns, k.arrival_ns, 0)
      FROM collective_call AS k JOIN collective AS c ON c.id = k.collective_id
      WHERE k.end_ns IS NULL AND c.communicator_id IS NOT NULL ORDER BY k.rank, 4, k.source_id)sql";
  TUTTI_ASSIGN_OR_RETURN(schema::Statement statement, context.derived().Prepare(kOpen));
  std::vector<OpenRow> rows;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool has_row, statement.Step());
    if (!has_row) return rows;
    OpenRow row;
    TUTTI_ASSIGN_OR_RETURN(row.collective, statement.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(row.rank, statement.Get<int64_t>(1));
    TUTTI_ASSIGN_OR_RETURN(row.source, statement.Get<int64_t>(2));
    TUTTI_ASSIGN_OR_RETURN(row.began_ns, statement.Get<int64_t>(3));
    rows.push_back(row);
  }
}

class Reader {
 public:
  Reader(RunContext& context, const FindingFacts& facts) : context_(context), facts_(facts) {}

  Result<StandstillFacts> Read() {
    TUTTI_RETURN_IF_ERROR(ReadGroups());
    TUTTI_RETURN_IF_ERROR(ReadCalls());
    TUTTI_RETURN_IF_ERROR(ReadLastEntered());
    TUTTI_RETURN_IF_ERROR(ReadToldProgress());
    for (const auto& [place, last] : progress_) {
      result_.members.push_back({place.second, place.first, traced_.contains(place.second), last});
    }
    return std::move(result_);
  }

 private:
  Status ReadGroups() {
    for (const schema::RankRow& rank : facts_.ranks) traced_.insert(rank.rank);
    TUTTI_ASSIGN_OR_RETURN(const auto groups,
                           context_.Read<schema::RunCommunicatorRow>("ORDER BY id"));
    for (const schema::RunCommunicatorRow& group : groups) {
      ranks_of_group_[group.id] = ParseRankList(group.global_ranks.value_or(""));
      for (const int64_t rank : ranks_of_group_[group.id]) progress_[{group.id, rank}];
    }
    TUTTI_ASSIGN_OR_RETURN(const auto members, context_.Read<schema::RunCommunicatorMemberRow>(""));
    for (const schema::RunCommunicatorMemberRow& member : members) {
      progress_[{member.communicator_id, member.rank}];
      group_of_local_[{member.rank, member.local_communicator_id}] = member.communicator_id;
    }
    return OkStatus();
  }

  Status ReadCalls() {
    TUTTI_ASSIGN_OR_RETURN(const std::vector<OpenRow> rows, ReadOpenRows(context_));
    for (const schema::RankRow& rank : facts_.ranks) {
      std::unordered_map<int64_t, const OpenRow*> by_source;
      for (const OpenRow& row : rows) {
        if (row.rank == rank.rank) by_source.emplace(row.source, &row);
      }
      if (by_source.empty()) continue;
      TUTTI_ASSIGN_OR_RETURN(RankTrace* const trace, context_.Trace(rank));
      TUTTI_ASSIGN_OR_RETURN(const auto events, trace->Collectives());
      for (const CollectiveEvent& event : events) {
        const auto row = by_source.find(event.row.id);
        if (row != by_source.end()) TUTTI_RETURN_IF_ERROR(AddCall(*row->second, event));
      }
    }
    return OkStatus();
  }

  Status AddCall(const OpenRow& row, const CollectiveEvent& event) {
    auto collective = result_.collectives.find(row.collective);
    if (collective == result_.collectives.end()) {
      TUTTI_ASSIGN_OR_RETURN(const auto found,
                             context_.Read<schema::CollectiveRow>("WHERE id = ?1", row.collective));
      collective = result_.collectives.emplace(row.collective, found.at(0)).first;
    }
    OpenCall call;
    call.rank = row.rank;
    call.communicator = *collective->second.communicator_id;
    call.sequence = event.row.sequence;
    call.is_point_to_point = KindOfOp(event.op) == OpKind::kPointToPoint;
    call.is_send = event.op.starts_with("send");
    call.enqueue_ns = row.began_ns;
    if (event.row.state) call.has_started = event.row.state != "scheduled";
    const std::vector<int64_t>& ranks = ranks_of_group_[call.communicator];
    if (event.row.peer && static_cast<size_t>(*event.row.peer) < ranks.size()) {
      call.peer = ranks[static_cast<size_t>(*event.row.peer)];
    }
    result_.calls.push_back(call);
    result_.collective_of_call.push_back(row.collective);
    return OkStatus();
  }

  Status ReadLastEntered() {
    constexpr const char* kLast = R"sql(
        SELECT c.communicator_id, k.rank, c.op LIKE 'send%' OR c.op LIKE 'recv%', max(c.sequence)
        FROM collective AS c JOIN collective_call AS k ON k.collective_id = c.id
        WHERE c.communicator_id IS NOT NULL AND c.sequence IS NOT NULL GROUP BY 1, 2, 3)sql";
    TUTTI_ASSIGN_OR_RETURN(schema::Statement statement, context_.derived().Prepare(kLast));
    for (;;) {
      TUTTI_ASSIGN_OR_RETURN(const bool has_row, statement.Step());
      if (!has_row) return OkStatus();
      TUTTI_ASSIGN_OR_RETURN(const int64_t group, statement.Get<int64_t>(0));
      TUTTI_ASSIGN_OR_RETURN(const int64_t rank, statement.Get<int64_t>(1));
      TUTTI_ASSIGN_OR_RETURN(const int64_t is_transfer, statement.Get<int64_t>(2));
      TUTTI_ASSIGN_OR_RETURN(const int64_t last, statement.Get<int64_t>(3));
      if (is_transfer != 0) {
        with_transfers_.insert(group);
      } else {
        Raise({group, rank}, last);
      }
    }
  }

  // What a rank's own recorder tells of a group, which may be all there is. It counts
  // transfers too, so it says nothing of the collectives of a group that has both.
  Status ReadToldProgress() {
    for (const schema::RankRow& rank : facts_.ranks) {
      TUTTI_ASSIGN_OR_RETURN(RankTrace* const trace, context_.Trace(rank));
      TUTTI_ASSIGN_OR_RETURN(const auto rows, trace->Communicators());
      for (const schema::CommunicatorRow& row : rows) {
        const auto group = group_of_local_.find({rank.rank, row.id});
        if (group == group_of_local_.end() || !row.last_enqueued_sequence) continue;
        if (with_transfers_.contains(group->second)) continue;
        Raise({group->second, rank.rank}, *row.last_enqueued_sequence);
      }
    }
    return OkStatus();
  }

  void Raise(const Place& place, int64_t sequence) {
    std::optional<int64_t>& last = progress_[place];
    last = std::max(last.value_or(sequence), sequence);
  }

  RunContext& context_;
  const FindingFacts& facts_;
  StandstillFacts result_;
  std::set<int64_t> traced_;
  std::map<int64_t, std::vector<int64_t>> ranks_of_group_;
  std::map<Place, int64_t> group_of_local_;  // rank, local id
  std::map<Place, std::optional<int64_t>> progress_;
  std::set<int64_t> with_transfers_;  // groups
};

}  // namespace

Result<StandstillFacts> ReadStandstill(RunContext& context, const FindingFacts& facts) {
  return Reader(context, facts).Read();
}

Result<std::string> LastCallOf(RunContext& context, const FindingFacts& facts, int64_t rank) {
  const auto row = std::find_if(facts.ranks.begin(), facts.ranks.end(),
                                [&](const schema::RankRow& r) { return r.rank == rank; });
  if (row == facts.ranks.end()) return std::string();
  TUTTI_ASSIGN_OR_RETURN(RankTrace* const trace, context.Trace(*row));
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace->Collectives());
  const CollectiveEvent* last = nullptr;
  for (const CollectiveEvent& event : events) {
    if (last == nullptr || event.row.enqueue_ns >= last->row.enqueue_ns) last = &event;
  }
  if (last == nullptr) return std::string();
  std::string text = last->op;
  if (last->row.sequence) text += " #" + std::to_string(*last->row.sequence);
  TUTTI_ASSIGN_OR_RETURN(const auto communicators, trace->Communicators());
  for (const schema::CommunicatorRow& communicator : communicators) {
    if (communicator.id != last->row.communicator_id) continue;
    const std::string uid = communicator.uid.value_or("");
    text += " of group " + communicator.description.value_or(uid);
  }
  const std::string_view frame = FrameToShow(trace->Text(last->row.stack_id));
  if (!frame.empty()) text += ", in " + std::string(frame);
  return text;
}

}  // namespace tutti::analyzer
