#include "collector/drain/drain_loop.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "collector/clock/clock_reading.h"
#include "collector/os/files.h"
#include "collector/os/proc.h"

namespace tutti::collector::drain {
namespace {

constexpr char kBallastName[] = "ballast";
constexpr off_t kBallastBytes = 1 << 20;
constexpr int64_t kNoRingsRetryNs = 250'000'000;
constexpr int64_t kSampleIntervalNs = 250'000'000;
constexpr int64_t kControlIntervalNs = 100'000'000;
constexpr int64_t kWatchIntervalNs = 5'000'000;  // for the begin of a step
// Ranks may take a moment longer than CMD: mpirun's daemons, a shell's background job.
constexpr int64_t kGraceNs = 3'000'000'000;

os::FileDescriptor OpenOrNone(const std::string& path) {
  auto directory = os::OpenDirectory(path);
  return directory.ok() ? std::move(*directory) : os::FileDescriptor();
}

rank::ConversionSettings ConversionSettingsOf(const DrainerSettings& settings) {
  rank::ConversionSettings conversion;
  conversion.run_path = settings.run_path;
  conversion.spool_path = settings.spool_path;
  conversion.steps = settings.steps;
  conversion.making.run_id = settings.recording_id;
  conversion.making.recorder = settings.manifest_name;
  return conversion;
}

void MakeBallast(int directory) {
  const os::FileDescriptor ballast(
      ::openat(directory, kBallastName, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  // Without it a recording ends without its last chunks if others fill the disk.
  if (ballast.valid()) (void)::posix_fallocate(ballast.get(), 0, kBallastBytes);
}

}  // namespace

DrainLoop::DrainLoop(const DrainerSettings& settings, os::FileDescriptor channel)
    : settings_(settings),
      channel_(std::move(channel)),
      spool_directory_(OpenOrNone(settings.spool_path)),
      budget_(settings.max_bytes, spool_directory_.get()),
      pacer_(settings.flush_ns),
      worker_(ConversionSettingsOf(settings)),
      control_(settings.spool_path) {
  MakeBallast(spool_directory_.get());
  OpenMetrics();
  if (settings_.live) {
    uint64_t& bytes = settings_.live->window.bytes;
    bytes = live::FittingBytes(bytes, budget_.max_file_bytes());
    dumps_.emplace(settings_);
  }
  if (metrics_ || dumps_) follower_.emplace(spool_directory_.get(), settings_.alarms);
}

int DrainLoop::Run() {
  while (!Done()) {
    WaitForWork();
    HandleChannel();
    NoticeEnds();
    PollRings();
    TendRegularly();
    FinishEnded();
    HandleResults();
    TendDump();
    if (hurried_ && processes_.empty()) ::_exit(0);  // the worker may be in the middle
  }
  CleanUp();
  return 0;
}

bool DrainLoop::Done() const {
  return (orphaned_ || command_ended_) && processes_.empty() && converting_ == 0 &&
         !(dumps_ && dumps_->running());
}

void DrainLoop::WaitForWork() {
  std::vector<pollfd> wanted{{orphaned_ ? -1 : channel_.get(), POLLIN, 0},
                             {worker_.result_event(), POLLIN, 0}};
  for (const auto& [index, process] : processes_) {
    if (!process.ended_ns) wanted.push_back({process.pidfd.get(), POLLIN, 0});
  }
  const int64_t now_ns = clock::MonotonicRawNs();
  // Without ranks there is nothing to look at until somebody says something.
  const int64_t wait_ns = processes_.empty() ? 1'000'000'000 : next_poll_ns_ - now_ns;
  const timespec timeout{0, std::clamp<int64_t>(wait_ns, 0, 999'999'999)};
  ::ppoll(wanted.data(), wanted.size(), &timeout, nullptr);
}

void DrainLoop::HandleChannel() {
  while (!orphaned_) {
    Message message;
    auto packet =
        session::ReceivePacket(channel_.get(), std::as_writable_bytes(std::span(&message, 1)));
    if (!packet) return;
    if (packet->bytes != sizeof(message)) {
      orphaned_ = true;  // the supervisor is gone: no more processes will come
      OnCommandEnded();
      command_ended_ = false;  // … but those that are here may run as long as they like
      return;
    }
    HandleMessage(message, std::move(packet->descriptors));
  }
}

void DrainLoop::HandleMessage(const Message& message, std::vector<os::FileDescriptor> descriptors) {
  switch (message.kind) {
    case MessageKind::kSegment:
      return OnSegment(message.segment, std::move(descriptors));
    case MessageKind::kChildEnded:
      for (auto& [index, process] : processes_) {
        if (process.drainer.process().peer_pid == message.child_ended.pid) {
          process.exit_status = message.child_ended.exit_status;
        }
      }
      return;
    case MessageKind::kCommandEnded:
      return OnCommandEnded();
    case MessageKind::kHurry:
      hurried_ = true;
      return;
    default:
      return;  // messages of ours
  }
}

void DrainLoop::OnCommandEnded() {
  command_ended_ = true;
  command_ended_ns_ = clock::MonotonicRawNs();
  worker_.Expedite();
}

void DrainLoop::PollRings() {
  const int64_t now_ns = clock::MonotonicRawNs();
  if (now_ns < next_poll_ns_) return;
  uint64_t cells = 0;
  double max_fill_frac = 0;
  BudgetState budget = BudgetState::kPlenty;
  budget_.SetConverted(worker_.converted_bytes());
  for (auto& [index, process] : processes_) {
    const PollResult polled = process.drainer.Poll();
    cells += polled.cells;
    max_fill_frac = std::max(max_fill_frac, polled.max_fill_frac);
    budget = std::max(budget, polled.budget);
    if (!polled.spool.ok() || polled.budget == BudgetState::kFull) {
      if (DropOldestFiles()) continue;
      max_fill_frac = 0;  // looking more often does not help
      if (!std::exchange(said_disk_full_, true)) {
        Say("the disk is full or --max-size is reached: events are dropped from now on");
      }
    }
  }
  if (budget != BudgetState::kPlenty && settings_.max_bytes > 0) StopCapture();
  next_poll_ns_ = now_ns + pacer_.AfterPoll(cells > 0, max_fill_frac);
  if (control_.watches_steps()) next_poll_ns_ = std::min(next_poll_ns_, now_ns + kWatchIntervalNs);
}

void DrainLoop::StopCapture() {
  if (std::exchange(capture_stopped_, true)) return;
  const int64_t now_ns = clock::MonotonicRawNs();
  for (auto& [index, process] : processes_) {
    process.drainer.SetCaptureMask(0);
    process.drainer.WriteNote(spool::EncodeNote(
        wire::NoteSeverity::kDataLoss, 1, now_ns, now_ns, "max_size_reached", "collector.drain",
        "recording stopped here because the limit of --max-size was reached",
        "record with a larger --max-size, or fewer sources or ranks"));
  }
  Say("--max-size is reached: recording stops, the job goes on");
}

void DrainLoop::TendRegularly() {
  const int64_t now_ns = clock::MonotonicRawNs();
  if (now_ns >= next_control_ns_) {
    next_control_ns_ = now_ns + (control_.watches_steps() ? 0 : kControlIntervalNs);
    ControlCapture();
  }
  if (settings_.sample_system && now_ns >= next_sample_ns_) {
    next_sample_ns_ = now_ns + kSampleIntervalNs;
    SampleSystem();
  }
  TendSteps(now_ns);
  const bool flush = now_ns >= next_flush_ns_;
  for (auto& [index, process] : processes_) {
    FreeRings(process, flush, now_ns);
    if (!flush) continue;
    process.drainer.WriteSnapshots();
    if (dumps_) continue;  // what becomes rows is known at the end
    worker_.Progress(index, process.spool_name, process.drainer.spool().committed_bytes());
  }
  if (flush) next_flush_ns_ = now_ns + settings_.flush_ns;
}

void DrainLoop::SampleSystem() {
  if (!processes_.empty()) node_sampler_.Start(kSampleIntervalNs);
  for (auto& [index, process] : processes_) {
    if (process.ended_ns) continue;
    if (const auto sample = process.sampler.Read()) process.drainer.WriteSample(*sample);
  }
  WriteNodeSamples();
}

// To all processes, also those that have just ended.
void DrainLoop::WriteNodeSamples() {
  const std::vector<spool::NodeSample> samples = node_sampler_.Take();
  for (auto& [index, process] : processes_) {
    for (const spool::NodeSample& sample : samples) process.drainer.WriteSample(sample);
  }
}

void DrainLoop::FreeRings(Process& process, bool regularly, int64_t now_ns) {
  const bool hurry = now_ns >= process.next_free_ns && process.drainer.RingsRunShort();
  if (!regularly && !hurry) return;
  // A program that really has that many threads must not cost a look at all of them each time.
  if (process.drainer.FreeRings(false) == 0) process.next_free_ns = now_ns + kNoRingsRetryNs;
}

void DrainLoop::NoticeEnds() {
  const int64_t now_ns = clock::MonotonicRawNs();
  for (auto& [index, process] : processes_) {
    if (process.ended_ns || !process.pidfd.valid()) continue;
    pollfd wanted{process.pidfd.get(), POLLIN, 0};
    if (::poll(&wanted, 1, 0) <= 0) continue;
    process.ended_ns = now_ns;
    next_poll_ns_ = now_ns;  // take the rest at once
    // A child of the supervisor is a zombie until it is waited for: its times are final.
    if (const auto sample = process.sampler.Read()) process.drainer.WriteSample(*sample);
    WriteNodeSamples();
  }
}

bool DrainLoop::MayFinish(const Process& process) const {
  const int64_t now_ns = clock::MonotonicRawNs();
  // The supervisor tells how each child of its ended, also to a drainer that comes later.
  if (process.ended_ns) return !process.is_supervisors_child || process.exit_status || orphaned_;
  return command_ended_ && now_ns - command_ended_ns_ > kGraceNs;
}

void DrainLoop::FinishEnded() {
  for (auto entry = processes_.begin(); entry != processes_.end();) {
    auto& [index, process] = *entry;
    if (!MayFinish(process) && !(hurried_ && command_ended_)) {
      ++entry;
      continue;
    }
    FinishProcess(
        index, process,
        process.ended_ns ? spool::EndReason::kProcessEnded : spool::EndReason::kStillRunning);
    entry = processes_.erase(entry);
  }
}

void DrainLoop::FinishProcess(uint32_t index, Process& process, spool::EndReason reason) {
  // On a full disk the last chunks get the ballast's place.
  if (!process.drainer.spool_failure().ok()) {
    ::unlinkat(spool_directory_.get(), kBallastName, 0);
  }
  if (reason == spool::EndReason::kStillRunning) {
    process.drainer.SetCaptureMask(0);
    Say("process " + std::to_string(process.drainer.process().hello.pid) +
        " still runs; its recording ends here");
  }
  TellPause(process);
  process.drainer.Finish(reason, process.exit_status.value_or(-1), clock::ThreadCpuNs());
  if (follower_) {
    LookAtSteps(index, process);
    TellAlarms(clock::MonotonicRawNs());
    follower_->End(index);
    if (metrics_) WriteMetrics(clock::MonotonicRawNs());
  }
  worker_.Complete(index, process.spool_name, SpoolBytes(process), FindingsOf(process));
  ++converting_;
  Message released = MakeMessage(MessageKind::kReleased);
  released.index = index;
  Send(released, true);
}

uint64_t DrainLoop::SpoolBytes(const Process& process) const {
  if (!process.window) return process.drainer.spool().committed_bytes();
  const auto reader = spool::SpoolReader::Open(spool_directory_.get(), process.spool_name);
  return reader.ok() ? reader->file_bytes() : 0;
}

std::vector<convert::Finding> DrainLoop::FindingsOf(const Process& process) const {
  std::vector<convert::Finding> findings;
  using enum wire::NoteSeverity;
  if (const auto& blocked = process.drainer.blocked(); blocked.any()) {
    convert::Finding finding{
        kDataLoss, convert::kSpoolFull, "collector.spool",
        "the spool could not be written: the disk was full, or --max-size "
        "was reached; a loss counts the events that were in the buffers at the end",
        "free space on the disk of the run directory, or raise --max-size"};
    const auto unwritten = static_cast<int64_t>(process.drainer.unwritten_events());
    if (unwritten == 0) finding.severity = kNotice;
    finding.count = std::max<int64_t>(unwritten, 1);
    const clock::Anchor& anchor = process.drainer.process().anchor;
    finding.range = {anchor.ToTraceNs(blocked.first_raw_ns), anchor.ToTraceNs(blocked.last_raw_ns)};
    findings.push_back(std::move(finding));
  }
  if (orphaned_ && !process.exit_status) {
    findings.push_back({kNotice, "recorder_died", "collector.drain",
                        "the recorder was killed while this process ran; its events were recorded "
                        "to the end, but how it ended is not known, and a process that started "
                        "after that is not in the recording",
                        ""});
  }
  const int32_t status = process.exit_status.value_or(0);
  if (status > 128) {
    findings.push_back({kInfo, "killed_by_signal", "collector.drain",
                        "the process was ended by signal " + std::to_string(status - 128), ""});
  }
  return findings;
}

}  // namespace tutti::collector::drain
