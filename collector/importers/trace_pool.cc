#include "collector/importers/trace_pool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "collector/importers/rank_assignment.h"
#include "collector/os/files.h"
#include "collector/run/rank_file.h"

namespace tutti::collector::importers {
namespace {

constexpr Oddity kAssumed = {
    Severity::kNotice, "rank_assumed",
    "the file does not say which rank it is; it got the number of its GPU or the lowest free one",
    "name files rank<N>, or let the job initialize torch.distributed before it profiles"};
constexpr Oddity kConflict = {
    Severity::kNotice, "rank_conflict",
    "another file claims to be the same rank; this one was kept under a free number",
    "import files of one run only"};

}  // namespace

Result<TraceSink*> TracePool::NewTrace(const InputFile& file) {
  const std::string path = directory_ + "/trace-" + std::to_string(next_number_++) + ".sqlite";
  TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<TraceSink> sink, TraceSink::Create(path));
  Trace trace;
  trace.sink = std::move(sink);
  trace.file_name = FileName(file);
  trace.formats.insert(std::string(importer_->format()));
  trace.touched = trace.is_new = true;
  traces_.push_back(std::move(trace));
  return traces_.back().sink.get();
}

Result<TraceSink*> TracePool::TraceOf(int64_t rank, const InputFile& file) {
  const std::string format(importer_->format());
  for (Trace& trace : traces_) {
    if (!IsOf(trace, rank) || !trace.formats.insert(format).second) continue;
    trace.touched = true;
    TUTTI_RETURN_IF_ERROR(trace.sink->Resume());
    return trace.sink.get();
  }
  TUTTI_ASSIGN_OR_RETURN(TraceSink * sink, NewTrace(file));
  sink->identity.rank = rank;
  return sink;
}

bool TracePool::HasTraceOf(int64_t rank) const {
  return std::any_of(traces_.begin(), traces_.end(), [&](const Trace& trace) {
    return IsOf(trace, rank) && !trace.formats.contains(std::string(importer_->format()));
  });
}

Status TracePool::FileDone(bool kept) {
  Status status;
  for (Trace& trace : traces_) {
    if (!trace.touched) continue;
    if (kept || !trace.is_new) {
      const Status written = trace.sink->Suspend();
      if (status.ok()) status = written;
      trace.is_new = false;
    }
    trace.touched = false;
  }
  std::erase_if(traces_, [](const Trace& trace) { return trace.is_new; });
  return status;
}

void TracePool::Assign() {
  // Ranks that are settled stay: they come first and their names agree.
  std::stable_partition(traces_.begin(), traces_.end(),
                        [](const Trace& trace) { return trace.is_assigned; });
  std::vector<RankClaim> claims;
  for (const Trace& trace : traces_) {
    const TraceIdentity& who = trace.sink->identity;
    RankClaim claim{.rank = who.rank, .device = who.device, .file_name = trace.file_name};
    if (!claim.rank) claim.rank = RankFromFileName(trace.file_name);
    // The shortest name that agrees.
    if (trace.is_assigned) claim.file_name = "rank" + std::to_string(*claim.rank);
    claims.push_back(std::move(claim));
  }
  const std::vector<RankAnswer> answers = AssignRanks(claims);
  for (size_t i = 0; i < traces_.size(); ++i) {
    Trace& trace = traces_[i];
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

ImportedTrace TracePool::Describe(const Trace& trace) const {
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
  std::stable_sort(traces_.begin(), traces_.end(), [](const Trace& a, const Trace& b) {
    return a.sink->identity.rank < b.sink->identity.rank;
  });
  std::vector<ImportedTrace> described;
  for (Trace& trace : traces_) {
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
