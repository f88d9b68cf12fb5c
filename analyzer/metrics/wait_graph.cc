#include "analyzer/metrics/wait_graph.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace tutti::analyzer {
namespace {

using Place = std::pair<int64_t, int64_t>;  // communicator, rank

class Graph {
 public:
  Graph(std::span<const OpenCall> calls, std::span<const MemberProgress> members)
      : calls_(calls), members_(members) {
    for (size_t i = 0; i < members.size(); ++i) {
      members_of_[members[i].communicator].push_back(i);
      if (!members[i].has_trace) no_trace_.insert(members[i].rank);
    }
    for (size_t i = 0; i < calls.size(); ++i) {
      const OpenCall& call = calls[i];
      if (call.is_point_to_point || !call.sequence) continue;
      const auto [first, is_new] = first_open_.emplace(Place(call.communicator, call.rank), i);
      if (!is_new && *call.sequence < *calls[first->second].sequence) first->second = i;
    }
  }

  Diagnosis Run() {
    for (const auto& [place, call] : first_open_) FindStuckDevice(place.second, call);
    for (const auto& [place, call] : first_open_) WaitInCollective(call);
    WaitInTransfers();
    std::sort(result_.waits.begin(), result_.waits.end(), [](const Wait& a, const Wait& b) {
      return std::tie(a.call, a.holder) < std::tie(b.call, b.holder);
    });
    FindCulprits();
    return std::move(result_);
  }

 private:
  std::optional<int64_t> FirstOpen(int64_t communicator, int64_t rank) const {
    const auto first = first_open_.find({communicator, rank});
    if (first == first_open_.end()) return std::nullopt;
    return calls_[first->second].sequence;
  }

  // The members of the call's communicator but its own rank.
  template <typename Function>
  void ForEachPeer(const OpenCall& call, Function function) const {
    const auto members = members_of_.find(call.communicator);
    if (members == members_of_.end()) return;
    for (const size_t index : members->second) {
      if (members_[index].rank != call.rank) function(members_[index]);
    }
  }

  // Others are done with the call and none lacks it: this rank's device does not run it.
  void FindStuckDevice(int64_t rank, size_t index) {
    const OpenCall& call = calls_[index];
    bool is_done_elsewhere = false;
    bool is_missing = false;
    ForEachPeer(call, [&](const MemberProgress& peer) {
      if (!peer.has_trace) return;
      const bool entered = peer.last_entered && *peer.last_entered >= *call.sequence;
      const std::optional<int64_t> open = FirstOpen(call.communicator, peer.rank);
      is_missing = is_missing || !entered;
      is_done_elsewhere = is_done_elsewhere || (entered && (!open || *open > *call.sequence));
    });
    if (!is_done_elsewhere || is_missing) return;
    const auto [stuck, is_new] = stuck_.emplace(rank, index);
    if (!is_new && call.enqueue_ns < calls_[stuck->second].enqueue_ns) stuck->second = index;
  }

  void Add(size_t call, int64_t holder, HoldUp why) {
    if (stuck_.contains(calls_[call].rank)) return;  // waits for nobody
    result_.waits.push_back({call, holder, why});
  }

  void WaitInCollective(size_t index) {
    const OpenCall& call = calls_[index];
    ForEachPeer(call, [&](const MemberProgress& peer) {
      if (!peer.has_trace) return Add(index, peer.rank, HoldUp::kNoTrace);
      if (!peer.last_entered || *peer.last_entered < *call.sequence) {
        return Add(index, peer.rank, HoldUp::kNeverEntered);
      }
      const auto first = first_open_.find({call.communicator, peer.rank});
      if (first == first_open_.end()) return;
      const OpenCall& other = calls_[first->second];
      if (*other.sequence < *call.sequence) {
        Add(index, peer.rank, HoldUp::kStuckEarlier);
      } else if (other.sequence == call.sequence && call.has_started == true &&
                 other.has_started == false) {
        Add(index, peer.rank, HoldUp::kNotStarted);
      }
    });
  }

  void WaitInTransfers() {
    struct Ends {
      std::vector<size_t> sends;
      std::vector<size_t> receives;
    };
    std::map<std::tuple<int64_t, int64_t, int64_t>, Ends> pairs;  // communicator, from, to
    for (size_t i = 0; i < calls_.size(); ++i) {
      const OpenCall& call = calls_[i];
      if (!call.is_point_to_point || !call.peer) continue;
      const int64_t from = call.is_send ? call.rank : *call.peer;
      const int64_t to = call.is_send ? *call.peer : call.rank;
      Ends& ends = pairs[{call.communicator, from, to}];
      (call.is_send ? ends.sends : ends.receives).push_back(i);
    }
    for (const auto& [key, ends] : pairs) {
      const size_t both = std::min(ends.sends.size(), ends.receives.size());
      if (ends.sends.size() > both) AddTransfer(ends.sends[both]);
      if (ends.receives.size() > both) AddTransfer(ends.receives[both]);
    }
  }

  void AddTransfer(size_t call) {
    const int64_t peer = *calls_[call].peer;
    Add(call, peer, no_trace_.contains(peer) ? HoldUp::kNoTrace : HoldUp::kNeverEntered);
  }

  // The wait that tells most: never entered, and the earliest.
  void AddCulprit(int64_t rank) {
    const Wait* best = nullptr;
    const auto weight = [&](const Wait& wait) {
      const OpenCall& call = calls_[wait.call];
      return std::tuple(wait.why, call.is_point_to_point, call.enqueue_ns, call.rank);
    };
    for (const Wait& wait : result_.waits) {
      if (wait.holder != rank) continue;
      if (best == nullptr || weight(wait) < weight(*best)) best = &wait;
    }
    result_.culprits.push_back({rank, best->call, best->why, false});
  }

  void FindCulprits() {
    std::set<int64_t> waiting;
    std::set<int64_t> holding;
    for (const Wait& wait : result_.waits) {
      waiting.insert(calls_[wait.call].rank);
      holding.insert(wait.holder);
    }
    for (const auto& [rank, call] : stuck_) {
      result_.culprits.push_back({rank, call, HoldUp::kStuckEarlier, true});
    }
    for (const bool has_trace : {true, false}) {
      if (!has_trace && !result_.culprits.empty()) break;
      for (const int64_t rank : holding) {
        const bool is_free = !waiting.contains(rank) && !stuck_.contains(rank);
        if (is_free && no_trace_.contains(rank) != has_trace) AddCulprit(rank);
      }
    }
    std::sort(result_.culprits.begin(), result_.culprits.end(),
              [](const Culprit& a, const Culprit& b) { return a.rank < b.rank; });
    if (result_.culprits.empty() && !result_.waits.empty()) FindCircle();
  }

  // Everybody who is waited for waits too: following the waits ends in a circle.
  void FindCircle() {
    std::map<int64_t, int64_t> next;
    for (const Wait& wait : result_.waits) next.emplace(calls_[wait.call].rank, wait.holder);
    std::vector<int64_t> path;
    int64_t rank = next.begin()->first;
    while (std::find(path.begin(), path.end(), rank) == path.end()) {
      path.push_back(rank);
      rank = next.at(rank);
    }
    result_.in_circle.assign(std::find(path.begin(), path.end(), rank), path.end());
    std::sort(result_.in_circle.begin(), result_.in_circle.end());
  }

  std::span<const OpenCall> calls_;
  std::span<const MemberProgress> members_;
  std::map<int64_t, std::vector<size_t>> members_of_;  // by communicator
  std::set<int64_t> no_trace_;
  std::map<Place, size_t> first_open_;
  std::map<int64_t, size_t> stuck_;  // rank -> its call
  Diagnosis result_;
};

}  // namespace

Diagnosis Diagnose(std::span<const OpenCall> calls, std::span<const MemberProgress> members) {
  return Graph(calls, members).Run();
}

}  // namespace tutti::analyzer
