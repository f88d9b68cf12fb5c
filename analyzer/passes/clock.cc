// One time for all ranks: ranks with one boot id share a clock already; clocks of others are
// aligned by the ends of the NCCL collectives that they were in together.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/metrics/clock_fit.h"
#include "analyzer/metrics/collective_timing.h"
#include "analyzer/metrics/communicators.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

// The end of a collective on a rank, by what tells it apart on that rank.
struct End {
  size_t rank = 0;  // place among the ranks
  int64_t local_communicator = 0;
  int64_t sequence = 0;
  std::string op;
  int64_t time_ns = 0;
};

struct Job {
  std::vector<schema::RankRow> ranks;
  std::vector<LocalCommunicator> locals;
  std::vector<End> ends;
};

LocalCommunicator LocalOf(int64_t rank, const schema::CommunicatorRow& row) {
  LocalCommunicator local;
  local.rank = rank;
  local.local_id = row.id;
  local.backend = row.backend;
  local.uid = row.uid.value_or("");
  local.description = row.description.value_or("");
  local.ordinal = row.ordinal;
  local.group_rank = row.group_rank;
  local.size = row.group_size;
  local.global_ranks = ParseRankList(row.global_ranks.value_or(""));
  return local;
}

// What ends on a GPU at once for all: told by the kernel or by NCCL itself.
bool EndsTogether(const CollectiveEvent& call) {
  return (call.row.origin == "kernel" || call.row.origin == "nccl_plugin") &&
         call.row.communicator_id && call.row.sequence && call.row.end_ns &&
         KindOfOp(call.op) == OpKind::kAllToAll;
}

Result<Job> ReadJob(RunContext& context) {
  Job job;
  TUTTI_RETURN_IF_ERROR(
      context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) -> Status {
        TUTTI_ASSIGN_OR_RETURN(const auto communicators, trace.Communicators());
        for (const schema::CommunicatorRow& row : communicators) {
          job.locals.push_back(LocalOf(rank.rank, row));
        }
        TUTTI_ASSIGN_OR_RETURN(const auto calls, trace.Collectives());
        for (const CollectiveEvent& call : calls) {
          if (!EndsTogether(call)) continue;
          job.ends.push_back({job.ranks.size(), *call.row.communicator_id, *call.row.sequence,
                              call.op, *call.row.end_ns});
        }
        job.ranks.push_back(rank);
        return OkStatus();
      }));
  return job;
}

// Readings of clocks (clock_domain): of several ranks on one clock the last to leave counts.
std::vector<ClockReading> ReadingsOf(const Job& job) {
  int64_t world_size = static_cast<int64_t>(job.ranks.size());
  for (const schema::RankRow& rank : job.ranks) {
    world_size = std::max(world_size, rank.world_size.value_or(0));
  }
  const std::vector<JobCommunicator> communicators = JoinCommunicators(job.locals, world_size);
  std::map<std::pair<int64_t, int64_t>, size_t> communicator_of;  // by rank and local id
  for (size_t i = 0; i < communicators.size(); ++i) {
    for (const size_t local : communicators[i].locals) {
      communicator_of[{job.locals[local].rank, job.locals[local].local_id}] = i;
    }
  }
  using Event = std::tuple<size_t, int64_t, std::string>;
  std::map<Event, std::map<int64_t, int64_t>> last_end;  // by clock
  for (const End& end : job.ends) {
    const schema::RankRow& rank = job.ranks[end.rank];
    const auto communicator = communicator_of.find({rank.rank, end.local_communicator});
    if (communicator == communicator_of.end()) continue;
    auto& by_clock = last_end[{communicator->second, end.sequence, end.op}];
    const auto [known, is_new] = by_clock.emplace(rank.clock_domain, end.time_ns);
    if (!is_new) known->second = std::max(known->second, end.time_ns);
  }
  std::vector<ClockReading> readings;
  int64_t event = 0;
  for (const auto& [key, by_clock] : last_end) {
    for (const auto& [clock, time_ns] : by_clock) {
      readings.push_back({event, static_cast<size_t>(clock), time_ns});
    }
    ++event;
  }
  return readings;
}

schema::DataIssueRow Issue(const char* severity, const char* name, int64_t count,
                           std::string detail) {
  schema::DataIssueRow issue;
  issue.severity = severity;
  issue.name = name;
  issue.origin = "analysis";
  issue.source = "analyzer.clock";
  issue.count = count;
  issue.detail = std::move(detail);
  return issue;
}

std::string DriftText(double drift) {
  if (drift == 0) return "";
  char text[64];
  std::snprintf(text, sizeof(text), ", most of it because they drift apart by up to %.3g ppm",
                drift * 1e6);
  return text;
}

// A trace is moved as a whole: the error is what the drift makes of it at its farther end.
void AddDriftToErrors(std::span<const schema::RankRow> ranks, std::vector<ClockFit>& fits) {
  std::vector<int64_t> farthest_ns(fits.size(), 0);
  for (const schema::RankRow& rank : ranks) {
    const auto clock = static_cast<size_t>(rank.clock_domain);
    for (const int64_t time_ns : {rank.begin_ns, rank.end_ns}) {
      const double shift_ns =
          fits[clock].drift * static_cast<double>(time_ns - fits[clock].from_ns);
      farthest_ns[clock] = std::max(farthest_ns[clock], int64_t{std::llround(std::abs(shift_ns))});
    }
  }
  for (size_t i = 0; i < fits.size(); ++i) fits[i].error_ns += farthest_ns[i];
}

Status WriteIssues(RunContext& context, size_t clocks, const std::vector<ClockFit>& fits) {
  std::set<size_t> groups;
  int64_t aligned = 0;
  int64_t error_ns = 0;
  double drift = 0;
  for (const ClockFit& fit : fits) {
    groups.insert(fit.reference);
    if (fit.readings == 0) continue;
    ++aligned;
    error_ns = std::max(error_ns, fit.error_ns);
    drift = std::max(drift, std::abs(fit.drift));
  }
  if (aligned > 0) {
    TUTTI_RETURN_IF_ERROR(context.AddIssue(
        Issue("info", "clocks_aligned", aligned,
              std::to_string(aligned) + " of " + std::to_string(clocks) +
                  " clocks were aligned with another by the ends of collectives, within " +
                  std::to_string(error_ns) + " ns" + DriftText(drift))));
  }
  if (groups.size() < 2) return OkStatus();
  return context.AddIssue(Issue(
      "notice", "clocks_not_aligned", static_cast<int64_t>(groups.size()),
      "the ranks ran on " + std::to_string(groups.size()) +
          " clocks that are not aligned; between them waiting is not told from transferring"));
}

Status Run(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const std::vector<schema::RankRow> ranks, context.Ranks());
  int64_t clocks = 0;
  for (const schema::RankRow& rank : ranks) clocks = std::max(clocks, rank.clock_domain + 1);
  if (clocks < 2) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const Job job, ReadJob(context));
  std::vector<ClockFit> fits = FitClocks(ReadingsOf(job), static_cast<size_t>(clocks));
  AddDriftToErrors(ranks, fits);
  std::set<size_t> groups;
  for (const ClockFit& fit : fits) groups.insert(fit.reference);
  for (const schema::RankRow& rank : ranks) {
    const ClockFit& fit = fits[static_cast<size_t>(rank.clock_domain)];
    TUTTI_RETURN_IF_ERROR(
        context.SetClock(rank, static_cast<int64_t>(fit.reference), fit.offset_ns,
                         groups.size() == 1 ? std::optional(fit.error_ns) : std::nullopt));
  }
  return WriteIssues(context, static_cast<size_t>(clocks), fits);
}

constexpr PassCheck kChecks[] = {
    {"ranks with one boot id have one offset",
     "SELECT count(*) FROM (SELECT boot_id FROM rank WHERE boot_id IS NOT NULL GROUP BY boot_id"
     " HAVING count(DISTINCT clock_offset_ns) > 1 OR count(DISTINCT clock_domain) > 1)"},
};

}  // namespace

extern const Pass kClockPass;
const Pass kClockPass{"clock", Run, kChecks};

}  // namespace tutti::analyzer
