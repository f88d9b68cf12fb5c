#include "collector/salvage.h"

#include <unistd.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "collector/clock/clock_reading.h"
#include "collector/os/files.h"
#include "collector/os/proc.h"
#include "collector/rank/manifest_rank.h"
#include "collector/rank/rank_conversion.h"
#include "collector/run/manifest.h"
#include "collector/run/recording_lock.h"
#include "collector/run/staged_run.h"
#include "collector/spool/reader.h"
#include "collector/spool/recover.h"
#include "collector/spool/series.h"
#include "collector/spool/writer.h"

namespace tutti::collector {
namespace {

using wire::NoteSeverity;

// One dead recording: RUN/.spool/HOST.PID.
struct DeadRecording {
  std::string run_path;
  std::string name;
  std::string spool_path;

  std::string manifest() const { return name + ".json"; }
};

convert::Finding KilledFinding() {
  return {NoteSeverity::kDataLoss, "recording_killed", "collector.salvage",
          "the recorder was killed: what its processes did after the end of this trace was "
          "not recorded",
          "record again if the missing part matters"};
}

// Ends the file after its last whole chunk. On the boot that it was recorded on, one more
// clock reading encloses the stamps of a last batch that lacks one.
Result<uint64_t> Mend(const DeadRecording& recording, const spool::SpoolReader& reader,
                      const spool::SpoolState& state) {
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor directory,
                         os::OpenDirectory(recording.spool_path));
  const auto end = reader.PlaceOf(state.end_offset);
  TUTTI_ASSIGN_OR_RETURN(spool::SpoolWriter writer,
                         spool::SpoolWriter::Continue(directory.get(), end.file, end.offset));
  const spool::ProcessChunk& process = state.process;
  const std::string_view boot_id(process.boot_id,
                                 ::strnlen(process.boot_id, sizeof(process.boot_id)));
  if (!state.ended && !boot_id.empty() && boot_id == os::BootId()) {
    TUTTI_RETURN_IF_ERROR(
        writer.AppendStruct(spool::ChunkKind::kClock, clock::ReadClocks(process.clock_kind)));
  }
  return state.end_offset + (writer.committed_bytes() - end.offset);
}

// A spool without a beginning held nothing yet.
Status ConvertSpool(const DeadRecording& recording, const std::string& spool_name,
                    SalvageReport& report) {
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor directory,
                         os::OpenDirectory(recording.spool_path));
  TUTTI_ASSIGN_OR_RETURN(spool::SpoolReader reader,
                         spool::SpoolReader::Open(directory.get(), spool_name));
  TUTTI_ASSIGN_OR_RETURN(const spool::SpoolState state, spool::Recover(reader));
  TUTTI_ASSIGN_OR_RETURN(const uint64_t committed, Mend(recording, reader, state));

  rank::ConversionSettings settings;
  settings.run_path = recording.run_path;
  settings.spool_path = recording.spool_path;
  settings.making.recorder = recording.manifest();
  const auto manifest = run::ReadManifest(recording.run_path, recording.manifest());
  if (manifest.ok()) settings.making.run_id = manifest->recording_id;
  TUTTI_ASSIGN_OR_RETURN(const auto conversion, rank::RankConversion::Open(settings, spool_name));
  std::vector<convert::Finding> findings;
  if (!state.ended) findings.push_back(KilledFinding());
  TUTTI_ASSIGN_OR_RETURN(const rank::RankOutcome outcome, conversion->Finish(committed, findings));
  if (outcome.spool_kept) return IoError(outcome.file + ": no room on the disk for all its rows");
  ++report.converted;
  report.messages.push_back(outcome.file + " was finished from what its recorder left" +
                            (state.ended ? "" : "; the recorder was killed, the end is missing"));
  // The manifest may be lost with the recorder; the trace is what matters.
  if (const Status status = run::AddRankToManifest(recording.run_path, recording.manifest(),
                                                   rank::ManifestRankOf(outcome));
      !status.ok()) {
    report.messages.push_back("its manifest could not be updated: " + status.message());
  }
  return OkStatus();
}

// Whether everything in it is converted.
bool SalvageFiles(const DeadRecording& recording, SalvageReport& report) {
  bool all_done = true;
  const auto check = [&](const Status& status) {
    if (status.ok()) return;
    all_done = false;
    report.messages.push_back("a rank of a killed recording is not converted: " + status.message());
  };
  // First: it removes what may be left of a series that is done.
  for (const std::string& file : os::ListDirectory(recording.spool_path)) {
    if (!file.ends_with(".done")) continue;
    const auto name = rank::FinishPublishing(recording.run_path, recording.spool_path, file);
    check(name.ok() ? OkStatus() : name.status());
  }
  const auto directory = os::OpenDirectory(recording.spool_path);
  if (!directory.ok()) return false;
  for (const std::string& spool_name : spool::ListSpools(directory->get())) {
    check(ConvertSpool(recording, spool_name, report));
  }
  return all_done;
}

// Whether nothing of it is left.
bool SalvageRecording(const DeadRecording& recording, SalvageReport& report) {
  const auto lock = run::LockRecording(recording.spool_path);
  if (!lock.ok()) {
    report.messages.push_back("a killed recording can't be finished: " + lock.status().message());
    return false;
  }
  if (!SalvageFiles(recording, report)) return false;
  // Not ok: no manifest, which a run of a killed recorder may lack.
  (void)run::CloseManifest(recording.run_path, recording.manifest(), false).ok();
  os::RemoveTree(recording.spool_path);
  return true;
}

// What was run stands in manifests alone: one that can't be read must not look as if there were
// none.
void CheckManifests(const std::string& run_path, SalvageReport& report) {
  for (const std::string& name : run::ListManifests(run_path)) {
    const auto manifest = run::ReadManifest(run_path, name);
    if (!manifest.ok()) {
      report.messages.push_back("a manifest can't be read: " + manifest.status().message());
    }
  }
}

}  // namespace

Result<SalvageReport> Salvage(const std::string& run_path) {
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor directory, os::OpenDirectory(run_path));
  TUTTI_RETURN_IF_ERROR(run::RecoverStagedRun(run_path));
  SalvageReport report;
  CheckManifests(run_path, report);
  bool all_done = true;
  for (const std::string& name : os::ListDirectory(run_path + "/.spool")) {
    const DeadRecording recording{run_path, name, run_path + "/.spool/" + name};
    if (!os::OpenDirectory(recording.spool_path).ok()) continue;  // a claim
    if (run::IsRecording(recording.spool_path)) {
      report.is_recording = true;
      all_done = false;
    } else {
      all_done = SalvageRecording(recording, report) && all_done;
    }
  }
  // Claims of names by recorders that were killed.
  if (all_done) os::RemoveTree(run_path + "/.spool");
  return report;
}

}  // namespace tutti::collector
