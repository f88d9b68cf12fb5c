// A run that is made as a whole before it takes its place, so that whoever gives up on the way,
// or is killed, leaves what was there before. It is made in RUN/.spool/import/run; files that are
// needed on the way lie beside that folder. One thread; RunDirectory's lock is held meanwhile.
//
// Its folder's name says how far it is, and changes as a whole:
//   import         being made: of no use to anybody once its maker is dead
//   import.whole   complete; the old run is being removed
//   import.moving  the old run is gone; the files are being moved up
// From import.whole on, RecoverStagedRun carries on where a killed maker stopped.
#pragma once

#include <string>
#include <utility>

#include "collector/os/file_descriptor.h"
#include "common/status.h"

namespace tutti::collector::run {

class StagedRun {
 public:
  // Begins one for the directory `run_path`.
  static Result<StagedRun> Begin(const std::string& run_path);
  StagedRun(StagedRun&& other) noexcept = default;
  StagedRun& operator=(StagedRun&& other) = delete;
  // Removes what was not published.
  ~StagedRun();

  std::string path() const { return work_path() + "/run"; }
  std::string work_path() const { return run_path_ + "/.spool/import"; }

  // Removes what the directory holds and moves the new run there.
  Status Publish();

 private:
  StagedRun(std::string run_path, os::FileDescriptor lock)
      : run_path_(std::move(run_path)), lock_(std::move(lock)) {}

  std::string run_path_;
  os::FileDescriptor lock_;  // while valid, there is something to remove
};

// Whether one is being made there.
bool IsStaging(const std::string& run_path);

// Finishes or removes what a killed StagedRun left; nothing where one is still being made.
// Cheap where there is nothing to do.
Status RecoverStagedRun(const std::string& run_path);

}  // namespace tutti::collector::run
