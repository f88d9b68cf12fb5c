#include "collector/importers/trace_pool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <utility>

#include "collector/importers/rank_assignment.h"
#include "collector/importers/replicas.h"
#include "collector/importers/windows.h"
#include "collector/os/files.h"
#include "collector/run/rank_file.h"

namespace tutti::collector::importers {
namespace {

constexpr Oddity kAssumed = {
    Severity::kNotice, "rank_assumed",
    "the file does not say which rank it is; it got the number of its GPU or the lowest free one",
    "name files rank<N>, import with --assume-rank, or let the job initialize torch.distributed "
    "before it profiles"};
constexpr Oddity kConflict = {
    Severity::kNotice, "rank_conflict",
    "another file claims to be the same rank; this one was kept under a free number",
    "import files of one run only"};

Status ReadSteps(const std::string& path, CaptureClaim& claim) {
  TUTTI_ASSIGN_OR_RETURN(schema::Database database, schema::Database::OpenTrusted(path));
  using Number = std::optional<int64_t>;
  TUTTI_ASSIGN_OR_RETURN(claim.first_step,
                         database.QueryOne<Number>("SELECT min(number) FROM step"));
  TUTTI_ASSIGN_OR_RETURN(claim.last_step,
                         database.QueryOne<Number>("SELECT max(number) FROM step"));
  return OkStatus();
}

// Members of groups as ranks of all replicas.
Status ShiftGroups(const std::string& path, int64_t by) {
  TUTTI_ASSIGN_OR_RETURN(schema::Database database, schema::Database::OpenTrusted(path));
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement update,
      database.Prepare("UPDATE communicator SET global_ranks = "
                       "(SELECT json_group_array(value + ?1) FROM json_each(global_ranks)) "
                       "WHERE json_valid(global_ranks)"));
  TUTTI_RETURN_IF_ERROR(update.BindAll(by));
  return update.Run();
}

}  // namespace

void TracePool::Add(std::vector<PooledTrace> traces) {
  std::move(traces.begin(), traces.end(), std::back_inserter(traces_));
}

PooledTrace* TracePool::Find(int64_t rank, const std::string& format) {
  const auto found = std::ranges::find_if(traces_, [&](const PooledTrace& trace) {
    return trace.is_assigned && !trace.is_conflict && !trace.is_assumed &&
           trace.sink->identity.rank == rank && !trace.formats.contains(format);
  });
  return found == traces_.end() ? nullptr : &*found;
}

PooledTrace* TracePool::Only(const std::string& format) {
  if (traces_.size() != 1 || traces_.front().formats.contains(format)) return nullptr;
  return &traces_.front();
}

std::vector<CaptureClaim> TracePool::Claims() const {
  std::vector<CaptureClaim> claims;
  for (const PooledTrace& trace : traces_) {
    const TraceIdentity& who = trace.sink->identity;
    // A communicator may be of a part of the job.
    const bool is_of_job = who.rank && who.rank_source != "NCCL communicator";
    CaptureClaim claim{.rank = who.rank, .is_told_inside = is_of_job};
    if (!trace.sink->sources.empty()) claim.path = trace.sink->sources.front().path;
    if (is_of_job) claim.world_size = who.world_size;
    claim.begin_ns = who.begin_ns;
    claim.end_ns = who.end_ns;
    claim.pid = who.pid;
    claim.host = who.host;
    claims.push_back(std::move(claim));
  }
  // The name of a file of several processes is none of theirs.
  std::map<std::string, size_t> traces_of;
  for (const CaptureClaim& claim : claims) ++traces_of[claim.path];
  for (size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].rank || traces_of[claims[i].path] > 1) continue;
    claims[i].rank = RankFromFileName(traces_[i].file_name);
  }
  return claims;
}

Result<std::vector<std::string>> TracePool::DropCopies() {
  const std::vector<CaptureClaim> claims = Claims();
  std::vector<std::string> lines;
  std::vector<bool> dropped(claims.size());
  for (size_t i = 0; i < claims.size(); ++i) {
    for (size_t j = 0; j < claims.size() && !dropped[i]; ++j) {
      const bool may_be_copy = i != j && !dropped[j] && LooksLikeCopy(claims[i], claims[j]);
      if (!may_be_copy || !HaveEqualContent(claims[i].path, claims[j].path)) continue;
      dropped[i] = true;
      lines.push_back(claims[i].path + ": the same trace as " + claims[j].path + "; left out");
    }
  }
  Drop(dropped);
  return lines;
}

void TracePool::Drop(const std::vector<bool>& dropped) {
  for (size_t i = traces_.size(); i > 0; --i) {
    if (dropped[i - 1]) traces_.erase(traces_.begin() + static_cast<ptrdiff_t>(i - 1));
  }
}

Result<std::vector<std::string>> TracePool::JoinWindows() {
  std::vector<CaptureClaim> claims = Claims();
  std::vector<bool> dropped(claims.size());
  std::string first_path;
  size_t joined = 0;
  size_t processes = 0;
  for (const std::vector<size_t>& places : CapturesOfProcesses(claims)) {
    std::vector<const CaptureClaim*> captures;
    for (const size_t place : places) {
      TUTTI_RETURN_IF_ERROR(ReadSteps(traces_[place].sink->path(), claims[place]));
      captures.push_back(&claims[place]);
    }
    if (!AreOfOneRun(captures)) continue;
    for (const size_t place : std::span(places).subspan(1)) {
      TUTTI_RETURN_IF_ERROR(traces_[places[0]].sink->Absorb(*traces_[place].sink));
      dropped[place] = true;
    }
    if (first_path.empty()) first_path = captures.front()->path;
    joined += places.size();
    ++processes;
  }
  Drop(dropped);
  if (processes == 0) return std::vector<std::string>();
  return std::vector{first_path + ": the first of " + std::to_string(joined) + " captures of " +
                     std::to_string(processes) + (processes == 1 ? " process" : " processes") +
                     ", joined to a trace of each; nothing is known of the time between them"};
}

Result<std::vector<std::string>> TracePool::PlaceReplicas() {
  const std::vector<CaptureClaim> claims = Claims();
  const Replicas replicas = FindReplicas(claims);
  if (replicas.count == 0) return std::vector<std::string>();
  for (size_t i = 0; i < traces_.size(); ++i) {
    TraceSink& sink = *traces_[i].sink;
    const int64_t first_rank = replicas.first_ranks[i];
    sink.identity.rank = first_rank + *claims[i].rank;
    sink.identity.world_size = replicas.count * replicas.ranks_each;
    sink.identity.rank_source = "file name";
    TUTTI_RETURN_IF_ERROR(sink.Suspend());
    TUTTI_RETURN_IF_ERROR(ShiftGroups(sink.path(), first_rank));
  }
  return std::vector{"the files are of " + std::to_string(replicas.count) +
                     " replicas that each count their ranks from 0; rank " +
                     std::to_string(replicas.ranks_each) +
                     " and on are those of dp1 and on, by the files' names"};
}

void TracePool::AssumeRanks(int64_t first) {
  const std::vector<CaptureClaim> claims = Claims();
  const std::vector<std::optional<int64_t>> of_folders = RanksFromFolders(claims);
  std::set<int64_t> told;
  for (size_t i = 0; i < claims.size(); ++i) {
    const auto rank = claims[i].rank ? claims[i].rank : of_folders[i];
    if (rank) told.insert(*rank);
  }
  for (size_t i = 0; i < claims.size(); ++i) {
    if (claims[i].rank || of_folders[i]) continue;
    while (told.contains(first)) ++first;
    traces_[i].sink->identity.rank = first++;
    traces_[i].sink->identity.rank_source = "--assume-rank";
  }
}

std::string TracePool::WhySeveralRuns() const { return importers::WhySeveralRuns(Claims()); }

void TracePool::Assign() {
  // Ranks that are settled stay: they come first and their names agree.
  std::stable_partition(traces_.begin(), traces_.end(),
                        [](const PooledTrace& trace) { return trace.is_assigned; });
  std::vector<RankClaim> claims;
  const std::vector<CaptureClaim> told = Claims();
  const std::vector<std::optional<int64_t>> of_folders = RanksFromFolders(told);
  for (const PooledTrace& trace : traces_) {
    const TraceIdentity& who = trace.sink->identity;
    RankClaim claim{.rank = who.rank, .device = who.device, .file_name = trace.file_name};
    if (!claim.rank) claim.rank = told[claims.size()].rank;
    if (!claim.rank) claim.rank = of_folders[claims.size()];
    // The shortest name that agrees.
    if (trace.is_assigned) claim.file_name = "rank" + std::to_string(*claim.rank);
    claims.push_back(std::move(claim));
  }
  const std::vector<RankAnswer> answers = AssignRanks(claims);
  for (size_t i = 0; i < traces_.size(); ++i) {
    PooledTrace& trace = traces_[i];
    if (trace.is_assigned) continue;
    const RankAnswer& answer = answers[i];
    TraceIdentity& who = trace.sink->identity;
    trace.is_assigned = true;
    trace.is_assumed = answer.is_assumed;
    trace.is_conflict = answer.conflict_with.has_value();
    if (trace.is_assumed) {
      who.rank_source = "assumed";
      trace.sink->Count(kAssumed, "");
    } else if (trace.is_conflict) {
      who.rank_source = "conflict";
      trace.sink->Count(kConflict, "", {}, 1,
                        "rank " + std::to_string(*claims[i].rank) + " is " +
                            traces_[*answer.conflict_with].file_name);
    } else if (!who.rank) {
      who.rank_source = "file name";
    }
    who.rank = answer.rank;
  }
}

ImportedTrace TracePool::Describe(const PooledTrace& trace) const {
  ImportedTrace described;
  described.rank = *trace.sink->identity.rank;
  described.is_assumed = trace.is_assumed;
  described.is_conflict = trace.is_conflict;
  for (const schema::ImportSourceRow& source : trace.sink->sources) {
    described.sources.push_back(source.path);
    described.events += source.events_read;
    described.events_skipped += source.events_skipped;
  }
  return described;
}

Result<std::vector<ImportedTrace>> TracePool::Publish(const std::string& run_path) {
  std::stable_sort(traces_.begin(), traces_.end(), [](const PooledTrace& a, const PooledTrace& b) {
    return a.sink->identity.rank < b.sink->identity.rank;
  });
  std::vector<ImportedTrace> described;
  for (PooledTrace& trace : traces_) {
    ImportedTrace one = Describe(trace);
    TUTTI_RETURN_IF_ERROR(trace.sink->Finish(/*attempt=*/0));
    one.file = run::RankFileName(static_cast<int32_t>(one.rank), 0);
    TUTTI_RETURN_IF_ERROR(
        os::RenameNoReplace(AT_FDCWD, trace.sink->path(), run_path + "/" + one.file));
    described.push_back(std::move(one));
  }
  return described;
}

}  // namespace tutti::collector::importers
