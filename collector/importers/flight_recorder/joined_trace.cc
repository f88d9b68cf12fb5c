#include "collector/importers/flight_recorder/joined_trace.h"

#include <algorithm>
#include <utility>

#include "collector/importers/flight_recorder/rows.h"
#include "schema/reader.h"

namespace tutti::collector::importers::flight_recorder {
namespace {

using schema::CommunicatorRow;

// By its own name; where the other file has none, or another kind of name, by its members.
const CommunicatorRow* Find(const std::vector<CommunicatorRow>& rows, const Group& group) {
  const std::string ranks = ListText(group.ranks);
  const auto by_name = std::ranges::find_if(rows, [&](const CommunicatorRow& row) {
    return row.backend == group.backend && !group.name.empty() && row.uid == group.name;
  });
  if (by_name != rows.end()) return &*by_name;
  const auto by_members = std::ranges::find_if(rows, [&](const CommunicatorRow& row) {
    return row.backend == group.backend && !group.ranks.empty() && row.global_ranks == ranks &&
           row.description.value_or("") == group.description;
  });
  return by_members == rows.end() ? nullptr : &*by_members;
}

// What the trace did not know of the group.
Status Teach(schema::Database& database, int64_t communicator, const Group& group) {
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement statement,
      database.Prepare("UPDATE communicator SET last_enqueued_sequence = ?2,"
                       " last_started_sequence = ?3, last_completed_sequence = ?4,"
                       " description = coalesce(description, ?5),"
                       " global_ranks = coalesce(global_ranks, ?6),"
                       " group_size = coalesce(group_size, ?7) WHERE id = ?1"));
  std::optional<std::string> description;
  if (!group.description.empty()) description = group.description;
  std::optional<std::string> ranks;
  std::optional<int64_t> size;
  if (!group.ranks.empty()) {
    ranks = ListText(group.ranks);
    size = static_cast<int64_t>(group.ranks.size());
  }
  TUTTI_RETURN_IF_ERROR(statement.BindAll(communicator, group.last_enqueued, group.last_started,
                                          group.last_completed, description, ranks, size));
  return statement.Run();
}

Status Join(schema::Database& database, const Dump& dump, JoinedTrace& joined) {
  std::vector<CommunicatorRow> rows;
  TUTTI_RETURN_IF_ERROR(schema::ForEach<CommunicatorRow>(
      database, "ORDER BY id", [&](const CommunicatorRow& row) { rows.push_back(row); }));
  for (const CommunicatorRow& row : rows) {
    int64_t& next = joined.next_ordinals[row.backend];
    next = std::max(next, row.ordinal + 1);
  }
  for (const Group& group : dump.groups) {
    const CommunicatorRow* const known = Find(rows, group);
    joined.communicators.push_back(known ? std::optional(known->id) : std::nullopt);
    if (known != nullptr) TUTTI_RETURN_IF_ERROR(Teach(database, known->id, group));
  }
  TUTTI_ASSIGN_OR_RETURN(
      const int64_t has_collectives,
      database.QueryOne<int64_t>("SELECT EXISTS (SELECT 1 FROM collective_source)"));
  joined.has_collectives = has_collectives != 0;
  return OkStatus();
}

}  // namespace

bool JoinedTrace::Tells(const Entry& entry) const {
  return has_collectives && entry.state == State::kCompleted && entry.created_ns && begin_ns &&
         end_ns && *begin_ns <= *entry.created_ns && *entry.created_ns <= *end_ns;
}

Result<JoinedTrace> JoinTrace(const Dump& dump, TraceSink& sink) {
  JoinedTrace joined;
  joined.is_joined = true;
  joined.begin_ns = sink.identity.begin_ns;
  joined.end_ns = sink.identity.end_ns;
  TUTTI_RETURN_IF_ERROR(
      sink.Update([&](schema::Database& database) { return Join(database, dump, joined); }));
  return joined;
}

}  // namespace tutti::collector::importers::flight_recorder
