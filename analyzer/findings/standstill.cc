#include "analyzer/findings/standstill.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyzer/findings/collective_text.h"
#include "analyzer/findings/standstill_facts.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kMostWaitsShown = 8;

// Culprits that hold up the same collective in the same way.
struct Blame {
  std::vector<int64_t> ranks;
  int64_t collective = 0;
  size_t call = 0;
  HoldUp why = HoldUp::kNeverEntered;
  bool is_device_stuck = false;
};

class Draft {
 public:
  Draft(RunContext& context, const FindingFacts& facts, const StandstillFacts& standstill)
      : context_(context),
        facts_(facts),
        standstill_(standstill),
        diagnosis_(Diagnose(standstill.calls, standstill.members)) {}

  // Nothing where the open collective is itself a mismatch.
  Result<std::optional<FindingDraft>> Make() {
    draft_.row.kind = "hang";
    draft_.row.formula = "none: the job stopped";
    if (!diagnosis_.culprits.empty()) {
      TUTTI_RETURN_IF_ERROR(BlameCulprits());
    } else if (!diagnosis_.in_circle.empty()) {
      TUTTI_RETURN_IF_ERROR(BlameCircle());
    } else {
      const size_t call = FirstCall();
      if (Collective(call).state == "mismatched") return std::optional<FindingDraft>();
      TUTTI_RETURN_IF_ERROR(BlameNobody(call));
    }
    TUTTI_RETURN_IF_ERROR(ShowWaits());
    return std::optional(std::move(draft_));
  }

 private:
  const schema::CollectiveRow& Collective(size_t call) const {
    return standstill_.collectives.at(standstill_.collective_of_call[call]);
  }

  Result<std::string> NameOfCall(size_t call) {
    const OpenCall& open = standstill_.calls[call];
    TUTTI_ASSIGN_OR_RETURN(std::string name, CollectiveName(context_, Collective(call)));
    if (open.is_point_to_point && open.peer) {
      name = (open.is_send ? "send to rank " : "recv from rank ") + std::to_string(*open.peer) +
             name.substr(std::min(name.find(' '), name.size()));
    }
    return name;
  }

  std::vector<Blame> BlamesByCollective() const {
    std::map<std::tuple<bool, HoldUp, int64_t>, Blame> blames;
    for (const Culprit& culprit : diagnosis_.culprits) {
      const int64_t collective = standstill_.collective_of_call[culprit.call];
      Blame& blame = blames[{culprit.is_device_stuck, culprit.why, collective}];
      blame.ranks.push_back(culprit.rank);
      blame.collective = collective;
      blame.call = culprit.call;
      blame.why = culprit.why;
      blame.is_device_stuck = culprit.is_device_stuck;
    }
    std::vector<Blame> list;
    for (auto& [key, blame] : blames) list.push_back(std::move(blame));
    return list;
  }

  Result<std::string> Accuse(const Blame& blame) {
    const std::string who = RankList(blame.ranks);
    const bool one = blame.ranks.size() == 1;
    TUTTI_ASSIGN_OR_RETURN(const std::string name, NameOfCall(blame.call));
    if (blame.is_device_stuck) {
      return (one ? "the GPU of " + who + " stands" : "the GPUs of " + who + " stand") +
             " still in " + name + ", which other ranks are done with";
    }
    switch (blame.why) {
      case HoldUp::kNeverEntered:
        if (standstill_.calls[blame.call].is_point_to_point) {
          return who + " never came to the " + name + " of rank " +
                 std::to_string(standstill_.calls[blame.call].rank);
        }
        return who + " never entered " + name;
      case HoldUp::kStuckEarlier:
        return who + (one ? " is" : " are") + " not done with what comes before " + name;
      case HoldUp::kNotStarted:
        return who + " called " + name + (one ? " but its GPU has" : " but their GPUs have") +
               " not come to it";
      case HoldUp::kNoTrace:
        break;
    }
    return who + " left no dump; what others wait for is " + name;
  }

  static std::string Advise(const Blame& blame) {
    const std::string who = RankList(blame.ranks);
    if (blame.is_device_stuck || blame.why == HoldUp::kNotStarted) {
      return "look at the GPU of " + who +
             ": Xid errors in the kernel log, nvidia-smi, NVLink and ECC counters, a kernel that "
             "does not end";
    }
    if (blame.why == HoldUp::kNoTrace) {
      return "find out what became of " + who + ": its log, an exit code, the kernel's OOM killer";
    }
    return "see what " + who +
           " did after the last call: a branch that depends on the rank or its data, an uneven "
           "number of batches, a held GIL, a stuck data loader, a crash";
  }

  Status BlameCulprits() {
    const std::vector<Blame> blames = BlamesByCollective();
    for (const Blame& blame : blames) {
      TUTTI_ASSIGN_OR_RETURN(const std::string accusation, Accuse(blame));
      draft_.row.title += (draft_.row.title.empty() ? "" : "; ") + accusation;
      draft_.row.advice += (draft_.row.advice.empty() ? "" : "; ") + Advise(blame);
      if (!draft_.row.cause) {
        draft_.row.cause = Collective(blame.call).op;
        draft_.row.first_step = draft_.row.last_step = Collective(blame.call).step;
      }
      draft_.ranks.insert(draft_.ranks.end(), blame.ranks.begin(), blame.ranks.end());
      TUTTI_RETURN_IF_ERROR(ShowCollective(blame));
    }
    std::sort(draft_.ranks.begin(), draft_.ranks.end());
    draft_.row.confidence = blames.front().why == HoldUp::kNoTrace ? "medium" : "high";
    draft_.row.reason = "they wait for nobody, and all others wait for them in the end";
    for (const int64_t rank : draft_.ranks) TUTTI_RETURN_IF_ERROR(ShowLastCall(rank));
    return OkStatus();
  }

  Status BlameCircle() {
    draft_.ranks = diagnosis_.in_circle;
    draft_.row.title = RankList(draft_.ranks) + " wait for one another";
    draft_.row.cause = "deadlock";
    draft_.row.confidence = "high";
    draft_.row.reason = "each is in a call that the next has not made";
    draft_.row.advice =
        "make all ranks issue the calls of different groups in the same order; with transfers, "
        "pair sends and receives in one batch";
    for (const int64_t rank : draft_.ranks) TUTTI_RETURN_IF_ERROR(ShowLastCall(rank));
    return OkStatus();
  }

  Status BlameNobody(size_t call) {
    TUTTI_ASSIGN_OR_RETURN(const std::string name, NameOfCall(call));
    draft_.row.title = "every rank entered " + name + ", and none is done with it";
    draft_.row.cause = Collective(call).op;
    draft_.row.confidence = "medium";
    draft_.row.reason = "all members arrived; the dump may also have been taken in good health";
    draft_.row.advice =
        "look at the network between the ranks (NCCL_DEBUG=INFO, link errors), and for a kernel "
        "on another stream that the collective's waits behind";
    Blame blame;
    blame.call = call;
    blame.collective = standstill_.collective_of_call[call];
    return ShowCollective(blame);
  }

  // The earliest open call: the others queue behind it.
  size_t FirstCall() const {
    size_t first = 0;
    for (size_t i = 1; i < standstill_.calls.size(); ++i) {
      if (standstill_.calls[i].enqueue_ns < standstill_.calls[first].enqueue_ns) first = i;
    }
    return first;
  }

  Status ShowCollective(const Blame& blame) {
    const schema::CollectiveRow& row = Collective(blame.call);
    TUTTI_ASSIGN_OR_RETURN(const std::string name, NameOfCall(blame.call));
    schema::FindingEvidenceRow evidence;
    evidence.source = "collective";
    evidence.row_id = row.id;
    evidence.begin_ns = standstill_.calls[blame.call].enqueue_ns;
    evidence.note = blame.is_device_stuck
                        ? RankList(blame.ranks) + " alone: " + name + " is still open there"
                        : std::to_string(row.ranks_seen) + " of " +
                              std::to_string(row.ranks_expected) + " ranks called " + name;
    draft_.evidence.push_back(std::move(evidence));
    return OkStatus();
  }

  Status ShowLastCall(int64_t rank) {
    TUTTI_ASSIGN_OR_RETURN(const std::string last, LastCallOf(context_, facts_, rank));
    schema::FindingEvidenceRow evidence;
    evidence.rank = rank;
    evidence.source = "collective_source";
    const bool has_trace = std::any_of(facts_.ranks.begin(), facts_.ranks.end(),
                                       [&](const auto& r) { return r.rank == rank; });
    evidence.note = !last.empty() ? "last called " + last
                    : has_trace   ? "has no call that is not done" + ProgressOf(rank)
                                  : "left no dump";
    draft_.evidence.push_back(std::move(evidence));
    return OkStatus();
  }

  // "; the last it made in that group is #44", of the collective it holds up.
  std::string ProgressOf(int64_t rank) const {
    for (const Culprit& culprit : diagnosis_.culprits) {
      if (culprit.rank != rank) continue;
      const int64_t group = standstill_.calls[culprit.call].communicator;
      for (const MemberProgress& member : standstill_.members) {
        if (member.rank != rank || member.communicator != group || !member.last_entered) continue;
        return "; the last it made in that group is #" + std::to_string(*member.last_entered);
      }
    }
    return "";
  }

  // Each rank that waits once, with the first call that it waits in.
  Status ShowWaits() {
    std::map<int64_t, size_t> call_of_rank;
    for (const Wait& wait : diagnosis_.waits) {
      const OpenCall& call = standstill_.calls[wait.call];
      const auto [first, is_new] = call_of_rank.emplace(call.rank, wait.call);
      const size_t known = first->second;
      if (!is_new && call.enqueue_ns < standstill_.calls[known].enqueue_ns) {
        first->second = wait.call;
      }
    }
    std::map<int64_t, std::pair<size_t, std::vector<int64_t>>> by_collective;
    for (const auto& [rank, call] : call_of_rank) {
      auto& waiting = by_collective[standstill_.collective_of_call[call]];
      waiting.first = call;
      waiting.second.push_back(rank);
    }
    std::vector<std::pair<size_t, std::vector<int64_t>>> groups;
    for (auto& [collective, waiting] : by_collective) groups.push_back(std::move(waiting));
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
      return a.second.size() > b.second.size();
    });
    for (size_t i = 0; i < std::min(groups.size(), kMostWaitsShown); ++i) {
      TUTTI_RETURN_IF_ERROR(ShowWait(groups[i].first, groups[i].second));
    }
    return OkStatus();
  }

  Status ShowWait(size_t call, const std::vector<int64_t>& ranks) {
    TUTTI_ASSIGN_OR_RETURN(const std::string name, NameOfCall(call));
    std::set<int64_t> holders;
    for (const Wait& wait : diagnosis_.waits) {
      const bool same =
          standstill_.collective_of_call[wait.call] == standstill_.collective_of_call[call];
      if (same) holders.insert(wait.holder);
    }
    const std::vector<int64_t> list(holders.begin(), holders.end());
    schema::FindingEvidenceRow evidence;
    evidence.source = "collective";
    evidence.row_id = Collective(call).id;
    evidence.begin_ns = standstill_.calls[call].enqueue_ns;
    evidence.note = RankList(ranks) + (ranks.size() == 1 ? " waits" : " wait") + " for " +
                    RankList(list) + " in " + name;
    draft_.evidence.push_back(std::move(evidence));
    return OkStatus();
  }

  RunContext& context_;
  const FindingFacts& facts_;
  const StandstillFacts& standstill_;
  Diagnosis diagnosis_;
  FindingDraft draft_;
};

}  // namespace

Result<bool> WasDumped(RunContext& context) {
  // Without an open call it does not matter, and the traces need not be looked at.
  TUTTI_ASSIGN_OR_RETURN(const int64_t has_open,
                         context.derived().QueryOne<int64_t>(
                             "SELECT EXISTS (SELECT 1 FROM collective_call WHERE end_ns IS NULL)"));
  if (has_open == 0) return false;
  bool was_dumped = false;
  TUTTI_RETURN_IF_ERROR(
      context.ForEachRank([&](const schema::RankRow& /*rank*/, RankTrace& trace) -> Status {
        TUTTI_ASSIGN_OR_RETURN(const auto events, trace.Collectives());
        was_dumped = was_dumped ||
                     std::any_of(events.begin(), events.end(), [](const CollectiveEvent& event) {
                       return event.row.origin == "flight_recorder";
                     });
        return OkStatus();
      }));
  return was_dumped;
}

Status FindStandstill(RunContext& context, const FindingFacts& facts,
                      std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const StandstillFacts standstill, ReadStandstill(context, facts));
  if (standstill.calls.empty()) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(std::optional<FindingDraft> draft,
                         Draft(context, facts, standstill).Make());
  if (draft) drafts.push_back(std::move(*draft));
  return OkStatus();
}

}  // namespace tutti::analyzer
