// Taking processes over from the supervisor: new ones, and those of an earlier drainer.
#include <fcntl.h>

#include <utility>

#include "collector/drain/drain_loop.h"
#include "collector/os/files.h"
#include "collector/os/proc.h"
#include "collector/spool/reader.h"
#include "collector/spool/recover.h"
#include "collector/spool/series.h"

namespace tutti::collector::drain {
namespace {

std::string FileName(uint32_t index, const char* extension) {
  std::string number = std::to_string(index);
  number.insert(0, 4 - std::min<size_t>(number.size(), 4), '0');
  return "p" + number + extension;
}

// A file or a series of them.
bool HasSpool(int directory, const std::string& name) {
  return !spool::FilesOf(directory, name).empty();
}

bool ExistsIn(const std::string& directory, const std::string& name) {
  return os::Exists(directory + "/" + name);
}

Result<spool::SpoolWriter> StartSpool(int directory, const std::string& name,
                                      const SegmentMessage& message) {
  TUTTI_ASSIGN_OR_RETURN(spool::SpoolWriter writer, spool::SpoolWriter::Create(directory, name));
  TUTTI_RETURN_IF_ERROR(writer.AppendStruct(spool::ChunkKind::kProcess, message.process));
  TUTTI_RETURN_IF_ERROR(writer.AppendStruct(spool::ChunkKind::kClock, message.first_reading));
  return writer;
}

Result<spool::SpoolWriter> Continue(int directory, const spool::SpoolReader& reader,
                                    uint64_t end_offset) {
  const spool::SpoolReader::Place end = reader.PlaceOf(end_offset);
  return spool::SpoolWriter::Continue(directory, end.file, end.offset);
}

}  // namespace

void DrainLoop::OnSegment(const SegmentMessage& message,
                          std::vector<os::FileDescriptor> descriptors) {
  if (processes_.contains(message.index) || WasDone(message.index)) return;
  const Status status = TakeOver(message, std::move(descriptors));
  if (!status.ok()) {
    Say("process " + std::to_string(message.process.hello.pid) +
        " is not recorded: " + status.message());
  }
}

// Whether an earlier drainer has finished it and died before it could say so.
bool DrainLoop::WasDone(uint32_t index) {
  const std::string done = FileName(index, ".done");
  if (!ExistsIn(settings_.spool_path, done)) return false;
  const auto name = rank::FinishPublishing(settings_.run_path, settings_.spool_path, done);
  if (!name.ok()) Say("a rank file is left as \".part\": " + name.status().message());
  Message message = MakeMessage(MessageKind::kDone);
  message.done.index = index;
  message.done.rank = -1;
  message.done.world_size = -1;
  message.done.events = -1;
  Send(message, true);
  return true;
}

Status DrainLoop::TakeOver(const SegmentMessage& message,
                           std::vector<os::FileDescriptor> descriptors) {
  const std::string spool_name = FileName(message.index, ".spool");
  if (HasSpool(spool_directory_.get(), spool_name)) {
    TUTTI_ASSIGN_OR_RETURN(spool::SpoolReader reader,
                           spool::SpoolReader::Open(spool_directory_.get(), spool_name));
    const auto state = spool::Recover(reader);
    if (state.ok() && state->ended) {
      worker_.Complete(message.index, spool_name, state->end_offset, {});
      ++converting_;
      return OkStatus();
    }
    // Not even its first chunk was written whole.
    if (!state.ok()) {
      for (const std::string& file : spool::FilesOf(spool_directory_.get(), spool_name)) {
        ::unlinkat(spool_directory_.get(), file.c_str(), 0);
      }
    }
  }
  TUTTI_ASSIGN_OR_RETURN(Process process, MakeProcess(message, std::move(descriptors)));
  if (capture_stopped_) process.drainer.SetCaptureMask(0);
  ControlProcess(process);
  processes_.emplace(message.index, std::move(process));
  next_poll_ns_ = 0;
  return OkStatus();
}

Result<DrainLoop::Process> DrainLoop::MakeProcess(const SegmentMessage& message,
                                                  std::vector<os::FileDescriptor> descriptors) {
  if (descriptors.empty()) return BadDataError("its buffer did not come along");
  TUTTI_ASSIGN_OR_RETURN(
      session::Segment segment,
      session::Segment::Attach(std::move(descriptors[0]), message.process.segment_bytes));
  const std::string spool_name = FileName(message.index, ".spool");
  spool::SpoolState state;
  std::optional<spool::SpoolReader> earlier;
  std::vector<std::string> files = spool::FilesOf(spool_directory_.get(), spool_name);
  if (!files.empty()) {
    TUTTI_ASSIGN_OR_RETURN(earlier, spool::SpoolReader::Open(spool_directory_.get(), spool_name));
    TUTTI_ASSIGN_OR_RETURN(state, spool::Recover(*earlier));
  } else {
    files.push_back(settings_.live ? spool::PieceFileName(spool_name, 0) : spool_name);
  }
  TUTTI_ASSIGN_OR_RETURN(spool::SpoolWriter writer,
                         earlier ? Continue(spool_directory_.get(), *earlier, state.end_offset)
                                 : StartSpool(spool_directory_.get(), files.back(), message));
  budget_.Spent(writer.committed_bytes());
  Process process{
      spool_name,
      ProcessDrainer(std::move(segment), std::move(writer), message.process, budget_),
      counters::ProcessSampler(message.process.peer_pid, message.process.clock_ticks_per_second),
      {},
      false};
  process.file_name = files.back();
  for (const auto& [ring, position] : state.next_position) {
    process.drainer.ResumeAt(ring, position);
  }
  if (settings_.live) {
    process.drainer.KeepWindow(message.first_reading, earlier ? &*earlier : nullptr);
    RestoreWindow(process, files);
  }
  if (descriptors.size() > 1) process.pidfd = std::move(descriptors[1]);
  const auto stat = os::ReadProcessStat(message.process.peer_pid);
  process.is_supervisors_child = message.is_child != 0;
  // Ended before we could open a handle on it.
  const bool same = stat && stat->start_ticks == message.process.start_ticks;
  if (!process.pidfd.valid() && !same && message.process.peer_pid > 0) {
    process.ended_ns = clock::MonotonicRawNs();
  }
  return process;
}

}  // namespace tutti::collector::drain
