// The exporter's façade: a run, or one rank's trace, as files of other tools' formats.
//
//   Result<ExportReport> report = Export({.run = "runs/a", .format = "chrome", .output = "a/"});
//
// Reads only the database. Callable from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace tutti::exporter {

struct ExportOptions {
  std::string run;  // run folder or one rank's file
  // The derived tables of the run (run.sqlite). "" none: of perfetto, clocks are taken as they are
  // then, and collectives are left out; tensorboard and prometheus need them.
  std::string analysis = {};
  std::string format;  // one of Formats()
  // chrome: a file, or for several ranks a folder with one file each. csv: a folder.
  // tensorboard: a folder. perfetto, prometheus: a file.
  std::string output;
  bool force = false;  // replace files that are there
};

struct ExportedFile {
  std::string path;
  int64_t events = 0;  // or rows
};

struct ExportReport {
  std::vector<ExportedFile> files;
  std::vector<std::string> messages;  // what the format can't hold, one plain line each
};

struct Format {
  const char* name;
  const char* description;
  bool uses_analysis;  // it tells more with ExportOptions::analysis, or needs it
};
const std::vector<Format>& Formats();

// Not ok: nothing is left that was begun; files that were completed before stay.
Result<ExportReport> Export(const ExportOptions& options);

}  // namespace tutti::exporter
