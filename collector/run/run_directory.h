// Opens the directory of a run for a recorder: a new one, one that other recorders of
// the same job write into, or, if asked to, the place of a finished one.
// Nothing that looks foreign is ever removed. One thread.
#pragma once

#include <optional>
#include <string>

#include "collector/clock/clock_reading.h"
#include "collector/os/file_descriptor.h"
#include "collector/run/job_identity.h"
#include "common/status.h"

namespace tutti::collector::run {

struct RunRequest {
  std::string pattern = {};  // name_pattern.h
  bool force = false;        // a finished run may be replaced
  JobIdentity job = {};
  std::string boot_id = {};  // of this machine
};

// Beside the files of a run, for those who open it.
inline constexpr char kLockName[] = ".lock";

// Where `tutti record --live` puts its dumps, each a run of its own.
inline constexpr char kDumpsName[] = "dumps";

struct OpenRun {
  std::string path = {};  // absolute
  bool created = false;   // by us
  bool replaces = false;  // a finished run is there, and may be removed
  // Anchor of another recorder on this boot of this machine: its clock is ours.
  std::optional<clock::Anchor> anchor = {};
  // Other recorders that want to open the run wait until this is closed: keep it until
  // the manifest and the recording lock are there.
  os::FileDescriptor opening;
};

// kUsage: the directory holds a finished run that must stay, or something else. Removes nothing
// but what killed imports left.
Result<OpenRun> OpenRunDirectory(const RunRequest& request, GetVariable get);

// Removes everything but the lock.
void RemoveFinishedRun(const std::string& run_path);

// RUN/.spool/HOST.PID of a manifest's recording.
std::string SpoolPathOf(const std::string& run_path, const std::string& manifest_name);

// Removes a run that holds nothing but our own manifest and empty directories.
void RemoveEmptyRun(const std::string& run_path, const std::string& manifest_name);

}  // namespace tutti::collector::run
