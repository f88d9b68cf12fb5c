// One process's spool -> its rank file, from taking a name to giving the file its final
// one and deleting the spool. Used by the drainer while a recording runs and by salvage
// afterwards. One thread at a time.
//
// The name is claimed (rank_file.h) for "HOST.PID/p0003" and kept beside the spool
// "p0003.spool" in "p0003.name". The spool becomes "p0003.done" before the rank file gets
// its final name, and stays as an empty file until the recording ends. So a kill at any
// moment leads to one rank file, not to none or two.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/convert/converter.h"
#include "collector/convert/findings.h"
#include "collector/convert/process_rows.h"
#include "collector/convert/spool_scan.h"
#include "collector/os/file_descriptor.h"
#include "collector/run/rank_file.h"
#include "common/status.h"
#include "schema/writer.h"

namespace tutti::collector::rank {

struct ConversionSettings {
  std::string run_path;
  std::string spool_path;  // directory of the recording's spools
  std::optional<convert::StepRange> steps;
  // Of spools whose older part was dropped: no step before this one is kept (spool_scan.h).
  int64_t first_step = INT64_MIN;
  convert::Making making;  // without the figures that are known at the end
};

// What became of one process.
struct RankOutcome {
  std::string file;  // relative to the run; "" if none was written
  int32_t pid = 0;
  convert::RankIdentity identity;
  int64_t events = 0;
  int64_t events_lost = 0;
  int32_t exit_status = -1;  // -1 unknown
  bool spool_kept = false;   // the file is not complete: no room for it on the disk
  std::vector<std::string> truth;
  std::string torch_version;
};

class RankConversion {
 public:
  // |spool_name|: "p0003.spool".
  static Result<std::unique_ptr<RankConversion>> Open(const ConversionSettings& settings,
                                                      const std::string& spool_name);

  // Converts what lies before |committed|, at most about |budget_bytes| of it, as soon as
  // the rank is known. Whether there is more to do.
  Result<bool> Advance(uint64_t committed, uint64_t budget_bytes);

  // The spool is complete, or nobody will go on with it. |findings| go into the file.
  Result<RankOutcome> Finish(uint64_t committed, const std::vector<convert::Finding>& findings);

  // How much of the spool has become rows.
  uint64_t converted_bytes() const { return converter_ ? converter_->offset() : 0; }

  const spool::ProcessChunk& process() const { return process_; }

 private:
  RankConversion(ConversionSettings settings, std::string spool_name, os::FileDescriptor directory,
                 spool::SpoolReader reader, const spool::ProcessChunk& process);

  bool Identify(bool at_end);
  Status OpenFile();
  Result<run::ClaimedName> ClaimName();
  void ReportEnd(const std::vector<convert::Finding>& findings);
  Status Publish();
  Status MarkDone() const;
  std::string Beside(const char* extension) const;

  ConversionSettings settings_;
  std::string spool_name_;
  os::FileDescriptor directory_;  // of the spool
  spool::SpoolReader reader_;
  spool::ProcessChunk process_;
  convert::SpoolScan scan_;
  std::optional<convert::RankIdentity> identity_;
  int32_t asked_attempt_ = 0;
  bool at_once_ = false;   // when the wanted steps ran is known at the end
  std::string file_name_;  // relative to the run, once the file is open
  std::unique_ptr<schema::TraceWriter> writer_;
  std::unique_ptr<convert::RowOutput> rows_;
  std::unique_ptr<convert::Converter> converter_;
  int64_t cpu_ns_ = 0;
};

// Goes on from "p0003.done", whatever of it a killed predecessor has done already; the
// name of the rank file.
Result<std::string> FinishPublishing(const std::string& run_path, const std::string& spool_path,
                                     const std::string& done_name);

}  // namespace tutti::collector::rank
