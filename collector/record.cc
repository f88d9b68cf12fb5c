#include "collector/record.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "collector/live/metrics_port.h"
#include "collector/os/files.h"
#include "collector/os/proc.h"
#include "collector/run/manifest.h"
#include "collector/run/recording_lock.h"
#include "collector/run/run_directory.h"
#include "collector/session/session_directory.h"
#include "collector/supervise/child.h"
#include "collector/supervise/environment.h"
#include "collector/supervise/supervisor.h"
#include "collector/supervise/tracer_library.h"
#include "common/number.h"
#include "common/wire/wire.h"

namespace tutti::collector {
namespace {

using supervise::Say;

const char* Variable(const char* name) {
  return ::getenv(name);  // NOLINT(concurrency-mt-unsafe): before there are threads
}

std::string CurrentDirectory() {
  char path[PATH_MAX];
  return ::getcwd(path, sizeof(path)) == nullptr ? std::string() : std::string(path);
}

std::string Shown(const std::string& path) {
  const std::string prefix = CurrentDirectory() + "/";
  return path.starts_with(prefix) ? path.substr(prefix.size()) : path;
}

// Everything of a recording that exists before CMD is started.
struct Recording {
  run::OpenRun run;
  std::string manifest;
  std::string id;
  clock::Anchor anchor{};
  os::FileDescriptor lock;
  std::string spool_path;
};

Status StartManifest(const RecordOptions& options, const run::JobIdentity& job,
                     Recording& recording) {
  run::ManifestStart start;
  start.recording_id = recording.id;
  start.job_id = job.id;
  start.directory = CurrentDirectory();
  start.argv = options.command;
  start.sources = options.sources;
  start.nproc = options.nproc;
  start.anchor = recording.anchor;
  return run::StartManifest(recording.run.path, recording.manifest, start);
}

Result<Recording> OpenRecording(const RecordOptions& options) {
  const run::JobIdentity job = run::ReadJobIdentity(&Variable);
  Recording recording;
  TUTTI_ASSIGN_OR_RETURN(
      recording.run,
      run::OpenRunDirectory({options.output, options.force, job, os::BootId()}, &Variable));
  if (recording.run.replaces) run::RemoveFinishedRun(recording.run.path);
  recording.manifest = run::ManifestName();
  recording.id = os::RandomHex(8);
  const clock::ClockReading now = clock::ReadClocks(wire::ClockKind::kMonotonicRaw);
  recording.anchor =
      recording.run.anchor.value_or(clock::Anchor{now.realtime_ns, now.monotonic_raw_ns});
  recording.spool_path = run::SpoolPathOf(recording.run.path, recording.manifest);
  TUTTI_RETURN_IF_ERROR(os::MakeDirectories(recording.spool_path));
  TUTTI_ASSIGN_OR_RETURN(recording.lock, run::LockRecording(recording.spool_path));
  TUTTI_RETURN_IF_ERROR(StartManifest(options, job, recording));
  recording.run.opening.Reset();
  return recording;
}

session::RegistrarSettings RegistrarSettingsOf(const RecordOptions& options,
                                               const Recording& recording,
                                               const session::SessionDirectory& session) {
  session::RegistrarSettings settings;
  settings.token = session.token();
  settings.segment_bytes = options.buffer_bytes;
  settings.clock_kind = clock::ChooseClockKind();
  settings.capture_mask = options.capture_mask;
  settings.anchor = recording.anchor;
  settings.ranks = options.ranks;
  return settings;
}

drain::DrainerSettings DrainerSettingsOf(const RecordOptions& options, const Recording& recording,
                                         const session::SessionDirectory& session,
                                         int metrics_listener) {
  drain::DrainerSettings settings;
  settings.run_path = recording.run.path;
  settings.spool_path = recording.spool_path;
  settings.manifest_name = recording.manifest;
  settings.session_path = session.path();
  settings.recording_id = recording.id;
  settings.max_bytes = options.max_bytes;
  settings.flush_ns = options.flush_ns;
  settings.steps = options.steps;
  settings.sample_system = options.sample_system;
  if (!options.metrics_path.empty()) {
    const bool is_absolute = options.metrics_path.starts_with('/');
    settings.metrics_path = (is_absolute ? "" : CurrentDirectory() + "/") + options.metrics_path;
  }
  settings.metrics_listener = metrics_listener;
  settings.metrics_every_ns = options.metrics_every_ns;
  settings.alarms = options.alarms;
  settings.live = options.live;
  return settings;
}

// Held by us, so that whoever asks is answered by each drainer that is started. Where a port can't
// be had the job runs without.
os::FileDescriptor ListenForMetrics(const RecordOptions& options) {
  if (!options.metrics_port) return {};
  auto listener = live::ListenOnLoopback(*options.metrics_port);
  if (!listener.ok()) {
    Say("no metrics at a port: " + listener.status().message());
    return {};
  }
  Say("metrics: http://127.0.0.1:" + std::to_string(live::PortOf(listener->get())) + "/metrics");
  return std::move(*listener);
}

// Starts CMD, or --nproc of it. A failure of the first is the failure of all.
std::optional<supervise::StartFailure> StartCommand(const RecordOptions& options,
                                                    const supervise::Environment& environment,
                                                    const std::string& recording_id,
                                                    supervise::Supervisor& supervisor) {
  const uint16_t port = options.nproc > 0 ? supervise::FreeLoopbackPort() : 0;
  for (int32_t rank = 0; rank < std::max(options.nproc, 1); ++rank) {
    supervise::Environment own = environment;
    if (options.nproc > 0) {
      supervise::AddLocalRank(own, {rank, options.nproc, port, recording_id});
    }
    const supervise::StartedChild child =
        supervise::StartChild(options.command, own, supervisor.signals());
    if (child.failure && rank == 0) return child.failure;
    if (!child.failure) supervisor.AddChild(child.pid);
  }
  return std::nullopt;
}

void SaySummary(const supervise::Summary& summary, const std::string& path) {
  if (summary.gave_up > 0) {
    Say(std::to_string(summary.gave_up) +
        (summary.gave_up == 1 ? " process is" : " processes are") +
        " not recorded: the machine was too busy to answer within the 3 s that a process waits");
  }
  if (summary.processes == 0) {
    Say("no training process was seen; nothing was recorded");
    return;
  }
  // A drainer that died may have finished files whose rank nobody told.
  const auto ranks =
      static_cast<int64_t>(summary.ranks.empty() ? summary.files : summary.ranks.size());
  const int64_t of = std::max<int64_t>(ranks, summary.ranks_expected);
  std::string text = std::to_string(ranks);
  if (of > ranks) text.append(" of ").append(std::to_string(of));
  text += of == 1 ? " rank" : " ranks";
  if (summary.attempts > 1) {
    text += " in " + std::to_string(summary.attempts) + " attempts";
  }
  if (summary.events_known) {
    text.append(", ").append(WithCommas(summary.events)).append(" events, ");
    text.append(WithCommas(summary.events_lost)).append(" lost");
  }
  if (summary.incomplete) text += "; not everything is converted yet";
  Say(text + "; next: tutti report " + Shown(path));
}

int RunRecording(const RecordOptions& options, const std::string& tracer,
                 const session::SessionDirectory& session, os::FileDescriptor listener,
                 Recording recording) {
  const os::FileDescriptor metrics = ListenForMetrics(options);
  supervise::Supervisor supervisor(RegistrarSettingsOf(options, recording, session),
                                   DrainerSettingsOf(options, recording, session, metrics.get()),
                                   std::move(listener), {recording.lock.get(), metrics.get()});
  Status status = supervisor.TakeSignals();
  if (status.ok()) status = supervisor.StartDrainer();
  if (!status.ok()) {
    Say(status.message());
    return supervise::kExitOurs;
  }
  supervise::Environment environment = supervise::CurrentEnvironment();
  for (const std::string& kept : supervise::AddTracer(environment, tracer, session.address())) {
    Say(kept + " is set already and is kept: another tool gets what it brings");
  }
  const auto failure = StartCommand(options, environment, recording.id, supervisor);
  if (failure) Say(failure->message);
  const int32_t exit_status = supervisor.Run();
  session::RemoveSessionDirectory(session.path());
  if (supervisor.summary().processes == 0) {
    run::RemoveEmptyRun(recording.run.path, recording.manifest);
  }
  if (failure) return failure->exit_status;
  SaySummary(supervisor.summary(), recording.run.path);
  return exit_status;
}

}  // namespace

const std::vector<Source>& AvailableSources() {
  static const std::vector<Source> sources = {
      {"torch", wire::kCaptureTorch},   {"nvtx", wire::kCaptureNvtx},
      {"memory", wire::kCaptureMemory}, {"cupti", wire::kCaptureCupti},
      {"nccl", wire::kCaptureNccl},     {"system", 0}};
  return sources;
}

int Record(const RecordOptions& options) {
  const auto fail = [](const Status& status) {
    Say(status.message());
    return supervise::kExitOurs;
  };
  if (supervise::FindProgram(options.command.front(), supervise::CurrentEnvironment()).empty()) {
    Say(options.command.front() + ": command not found");
    return supervise::kExitNotFound;
  }
  const auto tracer = supervise::FindTracerLibrary();
  if (!tracer.ok()) return fail(tracer.status());
  auto recording = OpenRecording(options);
  if (!recording.ok()) return fail(recording.status());
  const auto session = session::SessionDirectory::Make();
  if (!session.ok()) return fail(session.status());
  auto listener = session->Listen();
  if (!listener.ok()) {
    session::RemoveSessionDirectory(session->path());
    return fail(listener.status());
  }
  return RunRecording(options, *tracer, *session, std::move(*listener), std::move(*recording));
}

}  // namespace tutti::collector
