#include "analyzer/metrics/matching.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "analyzer/metrics/collective_timing.h"

namespace tutti::analyzer {
namespace {

// What equal calls of different ranks share. `kind` keeps the three ways apart.
enum class Way { kSequence, kOrder, kPair };
using Key = std::tuple<int64_t /*communicator*/, Way, int64_t, int64_t, std::string>;

bool IsPointToPoint(const MatchCall& call) {
  return KindOfOp(call.op) == OpKind::kPointToPoint && call.peer && call.group_rank;
}

Key KeyOf(const MatchCall& call) {
  if (IsPointToPoint(call)) {
    const bool is_send = call.op.starts_with("send");
    const int source = is_send ? *call.group_rank : *call.peer;
    const int destination = is_send ? *call.peer : *call.group_rank;
    return {*call.communicator, Way::kPair, source, destination, ""};
  }
  if (call.sequence) return {*call.communicator, Way::kSequence, *call.sequence, 0, ""};
  return {*call.communicator, Way::kOrder, call.bytes.value_or(-1), 0, call.op};
}

// The k-th call of each rank with one key is one match.
void AppendMatches(std::span<const MatchCall> calls, const std::vector<size_t>& with_key, Way way,
                   std::vector<Match>& matches) {
  std::vector<Match> own;
  std::map<int, size_t> seen;  // by rank
  for (const size_t index : with_key) {
    const size_t occurrence = seen[calls[index].rank]++;
    if (occurrence == own.size()) own.emplace_back();
    own[occurrence].calls.push_back(index);
  }
  for (Match& match : own) {
    match.by = way == Way::kSequence ? MatchedBy::kSequence : MatchedBy::kOrder;
    std::stable_sort(match.calls.begin(), match.calls.end(),
                     [&](size_t a, size_t b) { return calls[a].rank < calls[b].rank; });
    matches.push_back(std::move(match));
  }
}

// The values that `field` has in the match, unknown ones left out, and who differs
// from the most frequent one (the smallest on a tie: the answer must not depend on order).
template <typename Field>
std::vector<int> OddRanks(std::span<const MatchCall> calls, const Match& match, Field field) {
  using Value = std::decay_t<decltype(*field(calls[0]))>;
  std::map<Value, std::vector<int>> ranks_by_value;
  for (const size_t index : match.calls) {
    if (const auto value = field(calls[index])) ranks_by_value[*value].push_back(calls[index].rank);
  }
  if (ranks_by_value.size() < 2) return {};
  const auto most = std::max_element(
      ranks_by_value.begin(), ranks_by_value.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::vector<int> odd;
  for (auto it = ranks_by_value.begin(); it != ranks_by_value.end(); ++it) {
    if (it != most) odd.insert(odd.end(), it->second.begin(), it->second.end());
  }
  std::sort(odd.begin(), odd.end());
  return odd;
}

bool BytesMustAgree(std::string_view op) {
  for (const std::string_view free : {"all_to_all", "alltoall", "gather", "scatter", "barrier"}) {
    if (op.starts_with(free)) return false;
  }
  const OpKind kind = KindOfOp(op);
  return kind == OpKind::kAllToAll || kind == OpKind::kFromRoot || kind == OpKind::kToRoot;
}

}  // namespace

std::vector<Match> MatchCalls(std::span<const MatchCall> calls) {
  std::map<Key, std::vector<size_t>> by_key;
  std::vector<Match> matches;
  std::vector<Match> alone;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (calls[i].communicator) {
      by_key[KeyOf(calls[i])].push_back(i);
    } else {
      alone.push_back({MatchedBy::kNone, {i}});
    }
  }
  for (const auto& [key, with_key] : by_key) {
    AppendMatches(calls, with_key, std::get<Way>(key), matches);
  }
  matches.insert(matches.end(), alone.begin(), alone.end());
  return matches;
}

CollectiveState StateOf(std::span<const MemberTrace> members, std::optional<int64_t> sequence,
                        bool mismatched) {
  if (mismatched) return CollectiveState::kMismatched;
  const bool any_open = std::any_of(members.begin(), members.end(),
                                    [](const MemberTrace& m) { return m.call_is_open; });
  bool file_missing = false;
  bool not_captured = false;
  for (const MemberTrace& member : members) {
    if (member.has_call) continue;
    if (!member.has_file) {
      file_missing = true;
      continue;
    }
    const bool went_on = sequence && member.last_sequence && *sequence <= *member.last_sequence;
    if (!went_on && (any_open || member.covers_call)) return CollectiveState::kHung;
    not_captured = true;
  }
  if (not_captured) return CollectiveState::kNotCaptured;
  if (file_missing) return CollectiveState::kPeersMissing;
  return any_open ? CollectiveState::kOpen : CollectiveState::kComplete;
}

Mismatch FindMismatch(std::span<const MatchCall> calls, const Match& match) {
  if (match.calls.size() < 2) return {};
  if (KindOfOp(calls[match.calls[0]].op) == OpKind::kPointToPoint) return {};
  std::vector<int> odd = OddRanks(calls, match, [](const MatchCall& c) {
    return c.op.empty() ? std::nullopt : std::optional(c.op);
  });
  if (!odd.empty()) return {MismatchKind::kOp, odd};
  odd = OddRanks(calls, match, [](const MatchCall& c) {
    return c.dtype.empty() ? std::nullopt : std::optional(c.dtype);
  });
  if (!odd.empty()) return {MismatchKind::kDtype, odd};
  if (BytesMustAgree(calls[match.calls[0]].op)) {
    odd = OddRanks(calls, match, [](const MatchCall& c) { return c.bytes; });
    if (!odd.empty()) return {MismatchKind::kBytes, odd};
  }
  return {};
}

}  // namespace tutti::analyzer
