// Part of the collector's front door: turns files of other tools into a run directory,
// the same raw tables as a recording.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace tutti::collector {

// Called when a file is begun: its name, how many were begun before, and how many there are.
using ImportProgress = std::function<void(std::string_view name, size_t index, size_t count)>;

struct ImportOptions {
  std::vector<std::string> inputs = {};   // files and directories, not empty
  std::string output = "tutti-runs/%n/";  // run/name_pattern.h
  bool force = false;                     // replace a finished run
  // Traces that say no rank are this one and those that follow it, in the order of their names.
  std::optional<int64_t> assume_rank = {};
  std::vector<std::string> command = {};  // for the manifest, may be empty
  ImportProgress progress = {};
};

// One rank's trace of the new run.
struct ImportedTrace {
  std::string file = {};  // relative to the run
  int64_t rank = 0;
  bool is_assumed = false;   // no file said which rank it is
  bool is_conflict = false;  // its file claims a rank that another one has
  std::vector<std::string> sources = {};
  int64_t events = 0;          // that became rows
  int64_t events_skipped = 0;  // that did not
};

struct ImportReport {
  std::string run_path = {};
  std::vector<ImportedTrace> traces = {};  // by rank
  std::vector<std::string> messages = {};  // one plain line each: what was not read, and why
  size_t named_unread = 0;                 // of the inputs themselves, not of what is in them
};

// Reads all inputs that any importer recognizes. A file that is missing or can't be read costs
// only itself: it is in `messages`; not ok if none could be, or the run can't be written, and
// then nothing is left behind. A file named directly that no importer knows is in
// `messages`, one found in a directory only counts in the summary line there.
// A finished run that is replaced stays until the new one is complete. SIGINT, SIGTERM and
// SIGHUP end the import (kUnavailable) as a failure does.
Result<ImportReport> Import(const ImportOptions& options);

// The signal that ended an import, 0 none: the process should die of it, too.
int ImportInterruptedBy();

// Whether `path` is something to import rather than a run or one of its files.
bool IsImportable(const std::string& path);

// Imports into a directory of the user's cache, or finds the import that was made of the
// same unchanged file there. For commands that open a file directly.
Result<ImportReport> ImportToCache(const std::string& path, const ImportOptions& options);

}  // namespace tutti::collector
