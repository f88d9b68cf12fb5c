// Collectives over ranks: which calls are one, when each could begin to move data, who
// waited and for how long, bandwidths; and those that some rank never entered.
#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "analyzer/input/step_index.h"
#include "analyzer/metrics/collective_sources.h"
#include "analyzer/metrics/collective_timing.h"
#include "analyzer/metrics/communicators.h"
#include "analyzer/metrics/matching.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

struct Call {
  size_t rank = 0;  // place in Job::ranks
  SourceCall source;
  std::optional<size_t> communicator;  // place in Job::communicators
  std::optional<int64_t> group_rank;
  std::optional<int64_t> step;
};

// First and last sequence of a rank in a communicator.
struct SequenceSpan {
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
};

// Everything the pass knows, over all ranks.
struct Job {
  std::vector<schema::RankRow> ranks;
  std::map<int64_t, size_t> place_of_rank;
  std::vector<LocalCommunicator> locals;
  std::vector<JobCommunicator> communicators;
  std::vector<std::vector<int64_t>> traced_members;  // by communicator: those with a trace
  std::map<std::pair<int64_t, int64_t>, size_t> communicator_of_local;  // (rank, local id)
  std::map<std::pair<int64_t, int64_t>, std::optional<int64_t>> group_rank_of_local;
  std::vector<Call> calls;
  std::map<std::pair<size_t, size_t>, SequenceSpan> sequences;  // (communicator, rank place)
  // Last call that a rank's own recorder tells of, transfers included; the same key.
  std::map<std::pair<size_t, size_t>, int64_t> told_progress;
  std::set<size_t> with_transfers;  // communicators
};

Status ReadCommunicators(RunContext& context, Job& job) {
  std::map<std::pair<int64_t, int64_t>, int64_t> told_of_local;  // (rank, local id)
  TUTTI_RETURN_IF_ERROR(
      context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) -> Status {
        job.place_of_rank[rank.rank] = job.ranks.size();
        job.ranks.push_back(rank);
        TUTTI_ASSIGN_OR_RETURN(const auto rows, trace.Communicators());
        for (const schema::CommunicatorRow& row : rows) {
          LocalCommunicator local;
          local.rank = rank.rank;
          local.local_id = row.id;
          local.backend = row.backend;
          local.uid = row.uid.value_or("");
          local.description = row.description.value_or("");
          local.ordinal = row.ordinal;
          local.group_rank = row.group_rank;
          local.size = row.group_size;
          local.global_ranks = ParseRankList(row.global_ranks.value_or(""));
          job.locals.push_back(std::move(local));
          if (row.last_enqueued_sequence) {
            told_of_local[{rank.rank, row.id}] = *row.last_enqueued_sequence;
          }
          job.group_rank_of_local[{rank.rank, row.id}] = row.group_rank;
        }
        return OkStatus();
      }));
  int64_t world_size = static_cast<int64_t>(job.ranks.size());
  for (const schema::RankRow& rank : job.ranks) {
    world_size = std::max(world_size, rank.world_size.value_or(0));
  }
  job.communicators = JoinCommunicators(job.locals, world_size);
  for (size_t i = 0; i < job.communicators.size(); ++i) {
    std::vector<int64_t>& traced = job.traced_members.emplace_back();
    for (const int64_t member : job.communicators[i].members) {
      if (job.place_of_rank.contains(member)) traced.push_back(member);
    }
    for (const size_t local : job.communicators[i].locals) {
      const std::pair key(job.locals[local].rank, job.locals[local].local_id);
      job.communicator_of_local[key] = i;
      const auto told = told_of_local.find(key);
      if (told != told_of_local.end()) {
        job.told_progress[{i, job.place_of_rank.at(key.first)}] = told->second;
      }
    }
  }
  return OkStatus();
}

SourceCall SourceOf(const CollectiveEvent& event) {
  SourceCall source;
  source.id = event.row.id;
  source.origin = event.row.origin;
  source.communicator_id = event.row.communicator_id;
  source.sequence = event.row.sequence;
  source.op = event.op;
  source.dtype = event.dtype;
  source.bytes = event.row.bytes;
  source.enqueue_ns = event.row.enqueue_ns;
  source.begin_ns = event.row.begin_ns;
  source.end_ns = event.row.end_ns;
  source.peer = event.row.peer;
  source.root = event.row.root;
  source.correlation_id = event.row.correlation_id;
  return source;
}

Status ReadCalls(RunContext& context, Job& job) {
  size_t place = 0;
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) -> Status {
    TUTTI_ASSIGN_OR_RETURN(const auto events, trace.Collectives());
    TUTTI_ASSIGN_OR_RETURN(const auto windows, context.Read<schema::StepWindowRow>(
                                                   "WHERE rank = ?1 ORDER BY step", rank.rank));
    const StepIndex steps(windows);
    std::vector<SourceCall> rows;
    for (const CollectiveEvent& event : events) rows.push_back(SourceOf(event));
    for (SourceCall& source : JoinSources(rows)) {
      Call call;
      call.rank = place;
      if (source.communicator_id) {
        const std::pair local(rank.rank, *source.communicator_id);
        const auto found = job.communicator_of_local.find(local);
        if (found != job.communicator_of_local.end()) {
          call.communicator = found->second;
          call.group_rank = job.group_rank_of_local[local];
        }
      }
      const std::optional<int64_t> started =
          source.enqueue_ns ? source.enqueue_ns : source.begin_ns;
      if (started) call.step = steps.ByHost(*started);
      if (started && !call.step) call.step = steps.ByWindow(*started);
      if (call.communicator && KindOfOp(source.op) == OpKind::kPointToPoint) {
        job.with_transfers.insert(*call.communicator);
      }
      if (call.communicator && source.sequence) {
        SequenceSpan& span = job.sequences[{*call.communicator, place}];
        span.first = std::min(span.first, *source.sequence);
        span.last = std::max(span.last, *source.sequence);
      }
      call.source = std::move(source);
      job.calls.push_back(std::move(call));
    }
    ++place;
    return OkStatus();
  });
}

Status WriteCommunicators(RunContext& context, const Job& job) {
  std::vector<schema::RunCommunicatorRow> rows;
  std::vector<schema::RunCommunicatorMemberRow> members;
  for (const JobCommunicator& communicator : job.communicators) {
    schema::RunCommunicatorRow row;
    row.id = static_cast<int64_t>(rows.size());
    row.backend = communicator.backend;
    if (!communicator.uid.empty()) row.uid = communicator.uid;
    if (!communicator.description.empty()) row.description = communicator.description;
    row.ordinal = communicator.ordinal;
    row.size = communicator.size;
    if (!communicator.global_ranks.empty()) {
      std::string list;
      for (const int64_t rank : communicator.global_ranks) {
        list += (list.empty() ? "[" : ",") + std::to_string(rank);
      }
      row.global_ranks = list + "]";
    }
    row.members_origin = communicator.members_origin == MembersOrigin::kTold         ? "told"
                         : communicator.members_origin == MembersOrigin::kWholeWorld ? "whole_world"
                                                                                     : "seen";
    for (const size_t local : communicator.locals) {
      members.push_back({row.id, job.locals[local].rank, job.locals[local].local_id,
                         job.locals[local].group_rank});
    }
    rows.push_back(std::move(row));
  }
  TUTTI_RETURN_IF_ERROR(context.Write(rows));
  return context.Write(members);
}

MatchCall ToMatchCall(const Job& job, const Call& call) {
  MatchCall match;
  match.rank = static_cast<int>(job.ranks[call.rank].rank);
  if (call.communicator) match.communicator = static_cast<int64_t>(*call.communicator);
  match.sequence = call.source.sequence;
  match.op = call.source.op;
  match.dtype = call.source.dtype;
  match.bytes = call.source.bytes;
  if (call.group_rank) match.group_rank = static_cast<int>(*call.group_rank);
  if (call.source.peer) match.peer = static_cast<int>(*call.source.peer);
  return match;
}

// Global ranks with a trace that should take part. Members without one are only counted
// (ExpectedRanks): a file may claim any number of them.
std::vector<int64_t> MembersOf(const Job& job, const Match& match) {
  const Call& first = job.calls[match.calls.front()];
  std::set<int64_t> members;
  for (const size_t index : match.calls) members.insert(job.ranks[job.calls[index].rank].rank);
  if (!first.communicator) return {members.begin(), members.end()};
  if (KindOfOp(first.source.op) != OpKind::kPointToPoint) {
    const std::vector<int64_t>& traced = job.traced_members[*first.communicator];
    members.insert(traced.begin(), traced.end());
  } else if (first.source.peer) {
    const auto peer = job.communicators[*first.communicator].GlobalRankOf(*first.source.peer);
    if (peer && job.place_of_rank.contains(*peer)) members.insert(*peer);
  }
  return {members.begin(), members.end()};
}

int64_t ExpectedRanks(const Job& job, const Match& match, size_t members) {
  const Call& first = job.calls[match.calls.front()];
  const auto known = static_cast<int64_t>(members);
  if (!first.communicator) return known;
  if (KindOfOp(first.source.op) == OpKind::kPointToPoint) return std::max<int64_t>(known, 2);
  return std::max(known, job.communicators[*first.communicator].expected());
}

// Latest moment at which one of the calls was still going on.
int64_t LatestMoment(const Job& job, const Match& match) {
  int64_t latest = std::numeric_limits<int64_t>::min();
  for (const size_t index : match.calls) {
    const Call& call = job.calls[index];
    latest = std::max(latest, call.source.end_ns.value_or(job.ranks[call.rank].end_ns));
  }
  return latest;
}

void SetSequences(const Job& job, size_t communicator, size_t place, MemberTrace& trace) {
  const auto span = job.sequences.find({communicator, place});
  if (span != job.sequences.end()) {
    trace.first_sequence = span->second.first;
    trace.last_sequence = span->second.last;
  }
  // A recorder that keeps open calls only tells of the others how far it was.
  const auto told = job.told_progress.find({communicator, place});
  if (told == job.told_progress.end() || job.with_transfers.contains(communicator)) return;
  trace.last_sequence = std::max(trace.last_sequence.value_or(told->second), told->second);
}

std::vector<MemberTrace> DescribeMembers(const Job& job, const Match& match,
                                         const std::vector<int64_t>& members, int64_t expected) {
  const Call& first = job.calls[match.calls.front()];
  const int64_t latest_ns = LatestMoment(job, match);
  std::map<size_t, const Call*> call_of_place;
  for (const size_t index : match.calls) call_of_place[job.calls[index].rank] = &job.calls[index];
  std::vector<MemberTrace> traces;
  for (const int64_t rank : members) {
    MemberTrace trace;
    trace.rank = static_cast<int>(rank);
    const auto place = job.place_of_rank.find(rank);
    trace.has_file = place != job.place_of_rank.end();
    if (trace.has_file) {
      const schema::RankRow& row = job.ranks[place->second];
      trace.covers_call = (row.is_finished == 1 || row.end_ns >= latest_ns) && row.events_lost == 0;
      if (first.communicator) SetSequences(job, *first.communicator, place->second, trace);
      const auto call = call_of_place.find(place->second);
      trace.has_call = call != call_of_place.end();
      trace.call_is_open = trace.has_call && IsOpen(call->second->source);
    }
    traces.push_back(trace);
  }
  // One stands for all members without a trace: their number does not change the state.
  if (static_cast<int64_t>(members.size()) < expected) traces.emplace_back();
  return traces;
}

const char* ToString(CollectiveState state) {
  switch (state) {
    case CollectiveState::kComplete:
      return "complete";
    case CollectiveState::kOpen:
      return "open";
    case CollectiveState::kPeersMissing:
      return "peers_missing";
    case CollectiveState::kNotCaptured:
      return "not_captured";
    case CollectiveState::kHung:
      return "hung";
    case CollectiveState::kMismatched:
      break;
  }
  return "mismatched";
}

const char* ToString(MatchedBy by) {
  switch (by) {
    case MatchedBy::kSequence:
      return "sequence";
    case MatchedBy::kOrder:
      return "order";
    case MatchedBy::kNone:
      break;
  }
  return "none";
}

// A collective and its calls, before ids are given.
struct Matched {
  schema::CollectiveRow row;
  std::vector<schema::CollectiveCallRow> calls;
  int64_t order_ns = 0;
};

bool OnOneClock(const Job& job, const Match& match) {
  return std::all_of(match.calls.begin(), match.calls.end(), [&](size_t index) {
    return job.ranks[job.calls[index].rank].clock_domain ==
           job.ranks[job.calls[match.calls.front()].rank].clock_domain;
  });
}

// A program learns that a send of Gloo's is over when it asks, which may be much later: it is over
// when its receive is.
std::optional<int64_t> EndOf(const Job& job, const Match& match, const Call& call) {
  std::optional<int64_t> end_ns = call.source.end_ns;
  const bool is_send = call.source.origin == "gloo_op" && call.source.op == "send";
  if (!is_send || !call.source.begin_ns || !OnOneClock(job, match)) return end_ns;
  for (const size_t index : match.calls) {
    const Call& other = job.calls[index];
    if (&other == &call || !other.source.end_ns || !end_ns) continue;
    end_ns = std::max(*call.source.begin_ns, std::min(*end_ns, *other.source.end_ns));
  }
  return end_ns;
}

schema::CollectiveCallRow CallRow(const Job& job, const Match& match, const Call& call) {
  schema::CollectiveCallRow row;
  row.rank = job.ranks[call.rank].rank;
  row.source_id = call.source.id;
  row.step = call.step;
  row.enqueue_ns = call.source.enqueue_ns;
  row.arrival_ns = call.source.begin_ns;
  row.end_ns = EndOf(job, match, call);
  return row;
}

// A flight recorder's times are when its watchdog came by, whole periods after the events.
bool IsDumped(const Job& job, const Match& match) {
  return std::any_of(match.calls.begin(), match.calls.end(), [&](size_t index) {
    return job.calls[index].source.origin == "flight_recorder";
  });
}

// Arrivals of all members; empty if some member did not arrive or clocks differ.
std::vector<CallTime> TimesOf(const Job& job, const Match& match, int64_t expected) {
  if (IsDumped(job, match)) return {};
  if (static_cast<int64_t>(match.calls.size()) < expected || !OnOneClock(job, match)) return {};
  std::vector<CallTime> times;
  for (const size_t index : match.calls) {
    const Call& call = job.calls[index];
    if (!call.source.begin_ns) return {};
    CallTime time;
    time.rank = static_cast<int>(job.ranks[call.rank].rank);
    time.is_root = call.source.root && call.group_rank == call.source.root;
    time.arrival_ns = *call.source.begin_ns;
    time.end_ns = EndOf(job, match, call);
    times.push_back(time);
  }
  return times;
}

void SetTiming(const std::vector<CallTime>& times, Matched& matched) {
  const CollectiveTiming timing = TimeCollective(KindOfOp(matched.row.op), times);
  matched.row.ready_ns = timing.ready_ns;
  if (timing.last_rank) matched.row.last_rank = *timing.last_rank;
  if (matched.row.state == "complete") matched.row.skew_ns = timing.skew_ns;
  matched.row.transfer_ns = timing.transfer_ns;
  matched.row.clamped = timing.clamped;
  for (size_t i = 0; i < times.size(); ++i) {
    matched.calls[i].wait_ns = timing.calls[i].wait_ns;
    matched.calls[i].transfer_ns = timing.calls[i].transfer_ns;
  }
}

void SetBandwidth(schema::CollectiveRow& row) {
  // What did not come about moved no data.
  if (row.state == "hung" || row.state == "open" || row.state == "mismatched") return;
  const std::optional<int64_t> time_ns = row.transfer_ns ? row.transfer_ns : row.duration_ns;
  if (!row.bytes || !time_ns) return;
  const std::optional<Bandwidth> bandwidth =
      BandwidthOf(row.op, *row.bytes, static_cast<int>(row.ranks_expected), *time_ns);
  if (!bandwidth) return;
  row.algbw_gb_per_s = bandwidth->algbw_gb_per_s;
  row.busbw_gb_per_s = bandwidth->busbw_gb_per_s;
  row.is_bw_raw = row.transfer_ns ? 0 : 1;
}

Matched Describe(const Job& job, std::span<const MatchCall> match_calls, const Match& match) {
  const Call& lowest = job.calls[match.calls.front()];
  const std::vector<int64_t> members = MembersOf(job, match);
  Matched matched;
  schema::CollectiveRow& row = matched.row;
  row.ranks_expected = ExpectedRanks(job, match, members.size());
  row.ranks_seen = static_cast<int64_t>(match.calls.size());
  if (lowest.communicator) row.communicator_id = static_cast<int64_t>(*lowest.communicator);
  row.sequence = lowest.source.sequence;
  row.matched_by = ToString(match.by);
  row.op = lowest.source.op;
  if (!lowest.source.dtype.empty()) row.dtype = lowest.source.dtype;
  row.bytes = lowest.source.bytes;
  row.step = lowest.step;
  const bool mismatched = FindMismatch(match_calls, match).kind != MismatchKind::kNone;
  row.state = ToString(
      StateOf(DescribeMembers(job, match, members, row.ranks_expected), row.sequence, mismatched));
  const bool is_dumped = IsDumped(job, match);
  for (const size_t index : match.calls) {
    const SourceCall& source = job.calls[index].source;
    matched.calls.push_back(CallRow(job, match, job.calls[index]));
    const std::optional<int64_t> end_ns = matched.calls.back().end_ns;
    if (source.begin_ns && end_ns && !is_dumped) {
      const int64_t duration_ns = *end_ns - *source.begin_ns;
      row.duration_ns = std::min(row.duration_ns.value_or(duration_ns), duration_ns);
    }
  }
  const std::vector<CallTime> times = TimesOf(job, match, row.ranks_expected);
  if (!times.empty()) SetTiming(times, matched);
  if (!is_dumped) SetBandwidth(row);
  const std::optional<int64_t> began =
      lowest.source.begin_ns ? lowest.source.begin_ns : lowest.source.enqueue_ns;
  matched.order_ns = row.ready_ns.value_or(began.value_or(0));
  return matched;
}

Status WriteCollectives(RunContext& context, std::vector<Matched> all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Matched& a, const Matched& b) { return a.order_ns < b.order_ns; });
  std::vector<schema::CollectiveRow> rows;
  std::vector<schema::CollectiveCallRow> calls;
  for (Matched& matched : all) {
    matched.row.id = static_cast<int64_t>(rows.size());
    for (schema::CollectiveCallRow& call : matched.calls) {
      call.collective_id = matched.row.id;
      calls.push_back(call);
    }
    rows.push_back(std::move(matched.row));
  }
  TUTTI_RETURN_IF_ERROR(context.Write(rows));
  return context.Write(calls);
}

schema::DataIssueRow Notice(const char* name, int64_t count, std::string detail) {
  schema::DataIssueRow issue;
  issue.severity = "notice";
  issue.name = name;
  issue.origin = "analysis";
  issue.source = "analyzer.collective";
  issue.count = count;
  issue.detail = std::move(detail);
  return issue;
}

Status WriteNotices(RunContext& context, const std::vector<Matched>& all) {
  int64_t not_captured = 0;
  int64_t clamped = 0;
  int64_t unmatched = 0;
  for (const Matched& matched : all) {
    not_captured += matched.row.state == "not_captured" ? 1 : 0;
    unmatched += matched.row.matched_by == "none" ? 1 : 0;
    clamped += matched.row.clamped;
  }
  if (not_captured > 0) {
    TUTTI_RETURN_IF_ERROR(context.AddIssue(
        Notice("collective_not_captured", not_captured,
               std::to_string(not_captured) + " collectives are not in the trace of every rank")));
  }
  if (unmatched > 0) {
    TUTTI_RETURN_IF_ERROR(context.AddIssue(
        Notice("collective_unmatched", unmatched,
               std::to_string(unmatched) + " collective calls without a known communicator")));
  }
  if (clamped == 0) return OkStatus();
  return context.AddIssue(Notice("collective_clamped", clamped,
                                 std::to_string(clamped) +
                                     " collective calls ended before the last rank arrived; "
                                     "their waits are cut at their end"));
}

Status Run(RunContext& context) {
  Job job;
  TUTTI_RETURN_IF_ERROR(ReadCommunicators(context, job));
  TUTTI_RETURN_IF_ERROR(ReadCalls(context, job));
  TUTTI_RETURN_IF_ERROR(WriteCommunicators(context, job));
  std::vector<MatchCall> match_calls;
  for (const Call& call : job.calls) match_calls.push_back(ToMatchCall(job, call));
  std::vector<Matched> all;
  for (const Match& match : MatchCalls(match_calls)) {
    all.push_back(Describe(job, match_calls, match));
  }
  TUTTI_RETURN_IF_ERROR(WriteNotices(context, all));
  return WriteCollectives(context, std::move(all));
}

constexpr PassCheck kChecks[] = {
    {"a collective has as many calls as ranks seen",
     "SELECT count(*) FROM collective AS c WHERE ranks_seen <>"
     " (SELECT count(*) FROM collective_call AS k WHERE k.collective_id = c.id)"},
    {"wait and transfer fill the time from arrival to end",
     "SELECT count(*) FROM collective_call WHERE transfer_ns IS NOT NULL"
     " AND wait_ns + max(transfer_ns, 0) <> end_ns - arrival_ns"},
    {"of all-to-all operations the last rank waits for nobody",
     "SELECT count(*) FROM collective AS c JOIN collective_call AS k"
     " ON k.collective_id = c.id AND k.rank = c.last_rank WHERE k.wait_ns > 0"},
};

}  // namespace

extern const Pass kCollectivePass;
const Pass kCollectivePass{"collective", Run, kChecks};

}  // namespace tutti::analyzer
