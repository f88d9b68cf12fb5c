#include "analyzer/replay/call_sources.h"

namespace tutti::analyzer {

Result<CallSources> CallSources::Read(RankTrace& trace) {
  CallSources sources;
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.Collectives());
  for (const CollectiveEvent& event : events) sources.events_.emplace(event.row.id, &event);
  TUTTI_ASSIGN_OR_RETURN(const auto communicators, trace.Communicators());
  for (const schema::CommunicatorRow& row : communicators) {
    if (row.group_rank) sources.group_ranks_.emplace(row.id, *row.group_rank);
  }
  return sources;
}

const CollectiveEvent* CallSources::Find(int64_t source_id) const {
  const auto found = events_.find(source_id);
  return found == events_.end() ? nullptr : found->second;
}

bool CallSources::IsRoot(const CollectiveEvent& event) const {
  if (!event.row.root || !event.row.communicator_id) return false;
  const auto own = group_ranks_.find(*event.row.communicator_id);
  return own != group_ranks_.end() && own->second == *event.row.root;
}

std::string Describe(const CollectiveEvent& event) {
  std::string text = event.op;
  if (!event.dtype.empty()) text += " " + event.dtype;
  if (event.row.bytes) text += " " + std::to_string(*event.row.bytes) + " B";
  return text;
}

}  // namespace tutti::analyzer
