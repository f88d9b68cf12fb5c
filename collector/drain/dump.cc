#include "collector/drain/dump.h"

#include <unistd.h>

#include <utility>

#include "collector/os/files.h"
#include "collector/rank/manifest_rank.h"
#include "collector/run/manifest.h"
#include "collector/run/recording_lock.h"
#include "collector/run/run_directory.h"
#include "collector/spool/reader.h"

namespace tutti::collector::drain {
namespace {

rank::ConversionSettings SettingsOf(const DrainerSettings& recording, const std::string& path,
                                    int64_t first_step) {
  rank::ConversionSettings settings;
  settings.run_path = path;
  settings.spool_path = run::SpoolPathOf(path, recording.manifest_name);
  settings.first_step = first_step;
  settings.making.run_id = recording.recording_id;
  settings.making.recorder = recording.manifest_name;
  settings.making.still_running = true;
  return settings;
}

}  // namespace

Dump::Dump(const DrainerSettings& recording, const std::string& path, int64_t first_step)
    : manifest_name_(recording.manifest_name),
      spool_path_(run::SpoolPathOf(path, recording.manifest_name)),
      worker_(SettingsOf(recording, path, first_step)) {
  outcome_.path = path;
  // At the drainer's low priority, not below it: a job that keeps all processors busy would
  // otherwise put it off for as long as it runs.
  worker_.Expedite();
}

Result<std::unique_ptr<Dump>> Dump::Begin(const DrainerSettings& recording, const std::string& path,
                                          const std::string& reason,
                                          const std::vector<DumpedSpool>& spools,
                                          int64_t first_step) {
  std::unique_ptr<Dump> dump(new Dump(recording, path, first_step));
  Status status = os::MakeDirectories(dump->spool_path_);
  if (status.ok()) {
    auto lock = run::LockRecording(dump->spool_path_);
    status = lock.status();
    if (lock.ok()) dump->lock_ = std::move(*lock);
  }
  if (status.ok()) {
    status = run::StartDumpManifest(recording.run_path, recording.manifest_name, path, reason);
  }
  if (status.ok()) status = dump->LinkFiles(recording, spools);
  if (status.ok()) status = dump->Convert(spools);
  if (status.ok()) return dump;
  dump->Remove();
  return status;
}

Status Dump::LinkFiles(const DrainerSettings& recording, const std::vector<DumpedSpool>& spools) {
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor from, os::OpenDirectory(recording.spool_path));
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor to, os::OpenDirectory(spool_path_));
  for (const DumpedSpool& spool : spools) {
    for (const std::string& file : spool.files) {
      TUTTI_RETURN_IF_ERROR(os::LinkOrCopy(from.get(), to.get(), file));
    }
  }
  return OkStatus();
}

Status Dump::Convert(const std::vector<DumpedSpool>& spools) {
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor directory, os::OpenDirectory(spool_path_));
  for (const DumpedSpool& spool : spools) {
    TUTTI_ASSIGN_OR_RETURN(const auto reader,
                           spool::SpoolReader::Open(directory.get(), spool.name));
    worker_.Complete(spool.index, spool.name, reader.file_bytes(), {});
    ++converting_;
  }
  return OkStatus();
}

std::optional<DumpOutcome> Dump::Poll() {
  for (const ConversionResult& result : worker_.TakeResults()) OnResult(result);
  if (converting_ > 0) return std::nullopt;
  return Close();
}

void Dump::OnResult(const ConversionResult& result) {
  --converting_;
  Status status = result.status;
  if (status.ok() && result.outcome.spool_kept) {
    status = IoError("no room on the disk for all its rows");
  }
  if (status.ok()) {
    status =
        run::AddRankToManifest(outcome_.path, manifest_name_, rank::ManifestRankOf(result.outcome));
  }
  if (!status.ok()) {
    outcome_.status = status;
    return;
  }
  ++outcome_.ranks;
  outcome_.events += result.outcome.events;
}

DumpOutcome Dump::Close() {
  if (outcome_.status.ok()) {
    outcome_.status = run::CloseManifest(outcome_.path, manifest_name_, false);
  }
  if (!outcome_.status.ok()) {
    Remove();
    return outcome_;
  }
  os::RemoveTree(spool_path_);
  ::rmdir((outcome_.path + "/.spool").c_str());  // fails while others write into it
  return outcome_;
}

// Half a dump is worth less than the room that it takes: of a full disk, mostly.
void Dump::Remove() {
  for (const std::string& name : run::ListManifests(outcome_.path)) {
    if (name == manifest_name_) continue;
    // Others have their part in it: what stays of ours is what is whole.
    os::RemoveTree(spool_path_);
    (void)run::CloseManifest(outcome_.path, manifest_name_, true).ok();
    return;
  }
  os::RemoveTree(outcome_.path);
}

}  // namespace tutti::collector::drain
