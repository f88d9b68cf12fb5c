#include "collector/rank/rank_conversion.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "collector/clock/clock_reading.h"
#include "collector/os/files.h"
#include "collector/spool/series.h"

namespace tutti::collector::rank {
namespace {

using wire::NoteSeverity;

std::string WithExtension(const std::string& name, const char* extension) {
  return name.substr(0, name.rfind('.')) + extension;
}

std::optional<int32_t> KnownNumber(int32_t number) {
  if (number < 0) return std::nullopt;
  return number;
}

// Whether the older part of the spool was dropped.
bool BeginsWithHead(const spool::SpoolReader& reader) {
  uint64_t at = 0;
  while (const auto chunk = reader.ChunkAt(at, reader.file_bytes())) {
    if (chunk->kind == spool::ChunkKind::kWindow) return true;
    if (chunk->kind == spool::ChunkKind::kCells) return false;
    at = chunk->end_offset();
  }
  return false;
}

constexpr char kOrderOfArrival[] = "order of arrival";

// Who claims names for this spool: "HOST.PID/p0003".
std::string OwnerOf(const std::string& spool_path, const std::string& spool_name) {
  return spool_path.substr(spool_path.rfind('/') + 1) + "/" + WithExtension(spool_name, "");
}

}  // namespace

RankConversion::RankConversion(ConversionSettings settings, std::string spool_name,
                               os::FileDescriptor directory, spool::SpoolReader reader,
                               const spool::ProcessChunk& process)
    : settings_(std::move(settings)),
      spool_name_(std::move(spool_name)),
      directory_(std::move(directory)),
      reader_(std::move(reader)),
      process_(process),
      scan_(settings_.steps) {
  scan_.SetFirstStep(settings_.first_step);
  at_once_ = settings_.steps || BeginsWithHead(reader_);
}

Result<std::unique_ptr<RankConversion>> RankConversion::Open(const ConversionSettings& settings,
                                                             const std::string& spool_name) {
  TUTTI_ASSIGN_OR_RETURN(os::FileDescriptor directory, os::OpenDirectory(settings.spool_path));
  TUTTI_ASSIGN_OR_RETURN(spool::SpoolReader reader,
                         spool::SpoolReader::Open(directory.get(), spool_name));
  const auto first = reader.ChunkAt(0, reader.file_bytes());
  const auto process = first && first->kind == spool::ChunkKind::kProcess
                           ? reader.ReadStruct<spool::ProcessChunk>(*first)
                           : std::nullopt;
  if (!process) {
    return BadDataError(settings.spool_path + "/" + spool_name +
                        ": no beginning, or written by another version of Tutti");
  }
  return std::unique_ptr<RankConversion>(
      new RankConversion(settings, spool_name, std::move(directory), std::move(reader), *process));
}

std::string RankConversion::Beside(const char* extension) const {
  return WithExtension(spool_name_, extension);
}

bool RankConversion::Identify(bool at_end) {
  const wire::Hello& hello = process_.hello;
  convert::RankIdentity identity;
  identity.attempt = std::max(hello.attempt, 0);
  identity.local_rank = KnownNumber(hello.local_rank);
  identity.world_size = KnownNumber(hello.world_size);
  if (hello.rank >= 0) {
    identity.rank = hello.rank;
    identity.source = std::string(hello.rank_variable,
                                  ::strnlen(hello.rank_variable, sizeof(hello.rank_variable)));
  } else if (const auto inferred = scan_.inferred_rank()) {
    identity.rank = inferred->rank;
    identity.world_size = inferred->world_size;
    identity.source = "communicator";
  } else if (at_end) {
    identity.source = kOrderOfArrival;  // the rank comes with the name
  } else {
    return false;
  }
  identity_ = std::move(identity);
  return true;
}

Result<run::ClaimedName> RankConversion::ClaimName() {
  const std::string owner = OwnerOf(settings_.spool_path, spool_name_);
  const auto earlier = os::ReadSmallFileAt(directory_.get(), Beside(".name"), 4096);
  if (earlier.ok() && run::HasClaimed(settings_.run_path, owner, *earlier)) {
    if (const auto name = run::ParseRankFileName(*earlier)) return *name;
  }
  if (identity_->source == kOrderOfArrival) {
    return run::ClaimFreeRank(settings_.run_path, owner);
  }
  return run::ClaimRankFile(settings_.run_path, owner, identity_->rank, identity_->attempt);
}

Status RankConversion::OpenFile() {
  asked_attempt_ = identity_->attempt;
  TUTTI_ASSIGN_OR_RETURN(const run::ClaimedName claimed, ClaimName());
  TUTTI_RETURN_IF_ERROR(os::WriteFileAtomically(directory_.get(), Beside(".name"), claimed.name));
  TUTTI_ASSIGN_OR_RETURN(const std::string part,
                         run::CleanPartPath(settings_.run_path, claimed.name));
  TUTTI_ASSIGN_OR_RETURN(writer_, schema::TraceWriter::Create(part));
  file_name_ = claimed.name;
  identity_->rank = claimed.rank;
  identity_->attempt = claimed.attempt;
  rows_ = std::make_unique<convert::RowOutput>(*writer_);
  convert::ConverterOptions options;
  options.window = scan_.step_ticks();
  // What was under way when the older part ends lacks its beginning: whole steps are kept.
  if (const auto begin = scan_.window_begin_ticks(); begin && !options.window) {
    options.window = convert::TickRange{*begin, UINT64_MAX};
  }
  converter_ = std::make_unique<convert::Converter>(process_, *rows_, options);
  // A file that is cut off must say whose it is, too; the rows are replaced at the end.
  convert::WriteProcessRows(*converter_, process_, *identity_, settings_.making, *rows_);
  return OkStatus();
}

Result<bool> RankConversion::Advance(uint64_t committed, uint64_t budget_bytes) {
  if (at_once_) return false;
  const int64_t cpu_before_ns = clock::ThreadCpuNs();
  if (!identity_) {
    if (process_.hello.rank < 0) TUTTI_RETURN_IF_ERROR(scan_.Advance(reader_, committed));
    if (!Identify(false)) return false;
    TUTTI_RETURN_IF_ERROR(OpenFile());
  }
  const uint64_t limit = std::min(committed, converter_->offset() + budget_bytes);
  const uint64_t before = converter_->offset();
  TUTTI_RETURN_IF_ERROR(converter_->Advance(reader_, limit));
  cpu_ns_ += clock::ThreadCpuNs() - cpu_before_ns;
  if (converter_->offset() != before || limit == committed) return limit < committed;
  // The next clock reading lies beyond the budget: a batch larger than it.
  TUTTI_RETURN_IF_ERROR(converter_->Advance(reader_, committed));
  return false;
}

void RankConversion::ReportEnd(const std::vector<convert::Finding>& findings) {
  convert::Findings& into = converter_->context().findings;
  for (const convert::Finding& finding : findings) into.Add(finding);
  if (identity_->source == kOrderOfArrival) {
    into.Add({NoteSeverity::kNotice, "rank_assumed", "collector.rank",
              "neither a variable nor a process group told this process's rank; it got the "
              "first free one",
              "set TUTTI_RANK_VAR to the name of the variable that holds the rank"});
  }
  if (identity_->attempt != asked_attempt_) {
    into.Add({NoteSeverity::kNotice, "rank_repeated", "collector.rank",
              "another process had this rank before; this is kept as a later attempt", ""});
  }
  if (settings_.steps && !scan_.step_ticks()) {
    into.Add({NoteSeverity::kNotice, "steps_not_found", "collector.convert",
              "none of the steps asked for with --steps was seen; everything is kept", ""});
  }
}

Result<RankOutcome> RankConversion::Finish(uint64_t committed,
                                           const std::vector<convert::Finding>& findings) {
  const int64_t cpu_before_ns = clock::ThreadCpuNs();
  if (!converter_) {
    TUTTI_RETURN_IF_ERROR(scan_.Advance(reader_, committed));
    Identify(true);
    TUTTI_RETURN_IF_ERROR(OpenFile());
  }
  ReportEnd(findings);
  TUTTI_RETURN_IF_ERROR(converter_->Finish(reader_, committed));
  convert::Making making = settings_.making;
  making.spool_bytes = committed;
  making.convert_cpu_ns = cpu_ns_ + clock::ThreadCpuNs() - cpu_before_ns;
  convert::WriteProcessRows(*converter_, process_, *identity_, making, *rows_);

  RankOutcome outcome;
  outcome.pid = process_.hello.pid;
  outcome.identity = *identity_;
  outcome.events_lost = converter_->context().findings.lost();
  if (converter_->end()) outcome.exit_status = converter_->end()->exit_status;
  outcome.truth = converter_->truth();
  outcome.torch_version = converter_->torch_version();
  TUTTI_RETURN_IF_ERROR(writer_->Finalize());
  outcome.events = writer_->committed_events();
  outcome.file = file_name_;
  if (writer_->lost_rows() > 0) {
    // What the disk had no room for is still in the spool; a later salvage tries again.
    outcome.spool_kept = true;
    outcome.events_lost += writer_->lost_rows();
    return outcome;
  }
  TUTTI_RETURN_IF_ERROR(Publish());
  return outcome;
}

// A series can't be renamed as a whole: beside it an empty file says that it is done.
Status RankConversion::MarkDone() const {
  const std::string done = Beside(".done");
  if (::renameat(directory_.get(), spool_name_.c_str(), directory_.get(), done.c_str()) == 0) {
    return OkStatus();
  }
  if (errno != ENOENT) return os::ErrnoStatus(spool_name_, errno);
  const os::FileDescriptor mark(
      ::openat(directory_.get(), done.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  return mark.valid() ? OkStatus() : os::ErrnoStatus(done, errno);
}

Status RankConversion::Publish() {
  TUTTI_RETURN_IF_ERROR(MarkDone());
  const auto name = FinishPublishing(settings_.run_path, settings_.spool_path, Beside(".done"));
  return name.ok() ? OkStatus() : name.status();
}

Result<std::string> FinishPublishing(const std::string& run_path, const std::string& spool_path,
                                     const std::string& done_name) {
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor directory, os::OpenDirectory(spool_path));
  const std::string name_file = WithExtension(done_name, ".name");
  TUTTI_ASSIGN_OR_RETURN(const std::string name,
                         os::ReadSmallFileAt(directory.get(), name_file, 4096));
  TUTTI_RETURN_IF_ERROR(run::PublishRankFile(run_path, name));
  const os::FileDescriptor spool(
      ::openat(directory.get(), done_name.c_str(), O_WRONLY | O_TRUNC | O_NOFOLLOW | O_CLOEXEC));
  if (!spool.valid()) return os::ErrnoStatus(done_name, errno);
  const std::string series = WithExtension(done_name, ".spool");
  for (const std::string& file : spool::FilesOf(directory.get(), series)) {
    ::unlinkat(directory.get(), file.c_str(), 0);
  }
  return name;
}

}  // namespace tutti::collector::rank
