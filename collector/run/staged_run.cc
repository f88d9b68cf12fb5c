#include "collector/run/staged_run.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "collector/os/files.h"
#include "collector/run/recording_lock.h"
#include "collector/run/run_directory.h"

namespace tutti::collector::run {
namespace {

std::string Spool(const std::string& run_path) { return run_path + "/.spool"; }
std::string Making(const std::string& run_path) { return Spool(run_path) + "/import"; }
std::string Whole(const std::string& run_path) { return Spool(run_path) + "/import.whole"; }
std::string Moving(const std::string& run_path) { return Spool(run_path) + "/import.moving"; }

Status Rename(const std::string& from, const std::string& to) {
  return ::rename(from.c_str(), to.c_str()) == 0 ? OkStatus() : os::ErrnoStatus(to, errno);
}

// Everything of the old run, its own spools included.
void RemoveOld(const std::string& run_path) {
  for (const std::string& name : os::ListDirectory(run_path)) {
    if (name != kLockName && name != ".spool") os::RemoveTree(run_path + "/" + name);
  }
  for (const std::string& name : os::ListDirectory(Spool(run_path))) {
    if (name != "import.whole") os::RemoveTree(Spool(run_path) + "/" + name);
  }
}

Status MoveUp(const std::string& run_path) {
  const std::string from = Moving(run_path) + "/run/";
  for (const std::string& name : os::ListDirectory(from)) {
    TUTTI_RETURN_IF_ERROR(Rename(from + name, run_path + "/" + name));
  }
  os::RemoveTree(Spool(run_path));
  return OkStatus();
}

// From import.whole or import.moving to the end.
Status CarryOn(const std::string& run_path) {
  if (os::Exists(Whole(run_path))) {
    RemoveOld(run_path);
    TUTTI_RETURN_IF_ERROR(Rename(Whole(run_path), Moving(run_path)));
  }
  return MoveUp(run_path);
}

}  // namespace

Result<StagedRun> StagedRun::Begin(const std::string& run_path) {
  const std::string work_path = Making(run_path);
  TUTTI_RETURN_IF_ERROR(os::MakeDirectories(work_path + "/run"));
  TUTTI_ASSIGN_OR_RETURN(os::FileDescriptor lock, LockRecording(work_path));
  return StagedRun(run_path, std::move(lock));
}

StagedRun::~StagedRun() {
  if (!lock_.valid()) return;
  os::RemoveTree(work_path());
  ::rmdir(Spool(run_path_).c_str());
}

Status StagedRun::Publish() {
  TUTTI_RETURN_IF_ERROR(Rename(Making(run_path_), Whole(run_path_)));
  const Status done = CarryOn(run_path_);
  lock_.Reset();
  return done;
}

bool IsStaging(const std::string& run_path) {
  return IsRecording(Making(run_path)) || IsRecording(Whole(run_path)) ||
         IsRecording(Moving(run_path));
}

Status RecoverStagedRun(const std::string& run_path) {
  for (const std::string& path : {Whole(run_path), Moving(run_path), Making(run_path)}) {
    if (!os::Exists(path) || IsRecording(path)) continue;
    const auto lock = LockRecording(path);
    if (!lock.ok()) continue;  // somebody else is at it
    if (path != Making(run_path)) return CarryOn(run_path);
    os::RemoveTree(path);
    ::rmdir(Spool(run_path).c_str());
  }
  return OkStatus();
}

}  // namespace tutti::collector::run
