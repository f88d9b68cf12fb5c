// When `tutti record --live` dumps its window of steps: a moment after a slow step or a hang, or
// when it is asked to by `tutti ctl` or by another recorder of the same run. One dump at a time, by
// itself no more than so many, and the next not before the window is wholly new. Asking is by a
// file for each beside the spools; several recorders' dumps of one reason become one run. One
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collector/drain/drainer.h"
#include "collector/drain/dump.h"
#include "collector/live/live_metrics.h"
#include "collector/live/settings.h"
#include "collector/live/step_follower.h"
#include "common/status.h"

namespace tutti::collector::drain {

// RUN/dumps/NAME, of a name that was free: "0002-REASON".
Result<std::string> MakeDumpDirectory(const std::string& run_path, const std::string& reason);

// Asks the recorder whose spools are in |spool_path|. |name|: of the dump's directory.
Status AskForDump(const std::string& spool_path, const std::string& name,
                  const std::string& reason);
// Whether it has not seen that yet.
bool IsAskedForDump(const std::string& spool_path, const std::string& name);
// Whether a recorder there keeps a window, which it says by a file beside its spools.
bool KeepsWindow(const std::string& spool_path);

class Dumps {
 public:
  // |settings| must outlive this, and have `live`.
  explicit Dumps(const DrainerSettings& settings);

  // |steps|: that the process of the alarm has ended so far.
  void OnAlarm(const live::Alarm& alarm, int64_t steps, int64_t raw_ns);
  // Looks whether somebody has asked.
  void Look(int64_t raw_ns);

  // Whether the window should be dumped now.
  bool IsDue(int64_t raw_ns) const;
  // Does so. |steps|: that each process has ended so far. A line for the user.
  std::string Begin(const std::vector<DumpedSpool>& spools, int64_t first_step,
                    const std::map<uint32_t, int64_t>& steps);

  // What became of the one that was begun, as a line for the user, once it is done.
  std::optional<std::string> Poll();

  bool wanted() const { return wanted_ || asked_; }
  bool running() const { return dump_ != nullptr; }
  const live::DumpCounts& counts() const { return counts_; }

 private:
  struct Wanted {
    std::string slug;    // for the name of its directory
    std::string reason;  // for people
    std::string name;    // of the directory, if somebody else has made it
    int64_t due_ns = 0;
  };
  Status TryBegin(const std::vector<DumpedSpool>& spools, int64_t first_step, std::string* path);
  void AskOthers(const std::string& path) const;

  const DrainerSettings& settings_;
  std::optional<Wanted> wanted_;
  std::optional<Wanted> asked_;
  Wanted current_;
  std::unique_ptr<Dump> dump_;
  std::map<uint32_t, int64_t> steps_at_last_;  // by process
  int64_t own_ = 0;
  live::DumpCounts counts_;
};

}  // namespace tutti::collector::drain
