#include "viewer/model/progress.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tutti::viewer {
namespace {

using Ranks = std::map<int64_t, RankProgress>;

void Raise(std::optional<int64_t>* most, int64_t value) {
  *most = std::max(most->value_or(value), value);
}

void AddCall(const Collective& collective, const schema::CollectiveCallRow& call, Ranks* ranks) {
  RankProgress& rank = (*ranks)[call.rank];
  const int64_t sequence = *collective.row.sequence;
  rank.rank = call.rank;
  if (!rank.called.has_value() || sequence >= *rank.called)
    rank.last_collective = collective.row.id;
  Raise(&rank.called, sequence);
  if (call.arrival_ns.has_value()) Raise(&rank.begun, sequence);
  if (call.end_ns.has_value()) Raise(&rank.done, sequence);
}

// Point-to-point transfers are numbered with the others but concern two ranks only.
bool IsOfWholeGroup(const schema::CollectiveRow& row) {
  return row.sequence.has_value() && row.communicator_id.has_value() && row.op != "send" &&
         row.op != "recv";
}

std::string LabelOf(const RunSummary& summary, int64_t communicator) {
  for (const schema::RunCommunicatorRow& row : summary.communicators) {
    if (row.id != communicator) continue;
    return row.backend + " " + row.description.value_or(row.uid.value_or(std::to_string(row.id)));
  }
  return "group " + std::to_string(communicator);
}

}  // namespace

std::vector<GroupProgress> ProgressOf(const RunSummary& summary) {
  std::map<int64_t, Ranks> by_group;
  for (const Collective& collective : summary.collectives) {
    if (!IsOfWholeGroup(collective.row)) continue;
    for (const schema::CollectiveCallRow& call : collective.calls) {
      AddCall(collective, call, &by_group[*collective.row.communicator_id]);
    }
  }
  std::vector<GroupProgress> groups;
  for (auto& [communicator, ranks] : by_group) {
    GroupProgress group{LabelOf(summary, communicator), {}};
    int64_t front = INT64_MIN;
    for (const auto& [rank, progress] : ranks) front = std::max(front, *progress.called);
    for (auto& [rank, progress] : ranks) {
      progress.behind = front - *progress.called;
      group.ranks.push_back(progress);
    }
    std::stable_sort(
        group.ranks.begin(), group.ranks.end(),
        [](const RankProgress& a, const RankProgress& b) { return a.behind > b.behind; });
    groups.push_back(std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const GroupProgress& a, const GroupProgress& b) {
                     return a.ranks.front().behind > b.ranks.front().behind;
                   });
  return groups;
}

}  // namespace tutti::viewer
