#include "collector/control.h"

#include <time.h>

#include <vector>

#include "collector/clock/clock_reading.h"
#include "collector/drain/capture_control.h"
#include "collector/drain/dumps.h"
#include "collector/os/files.h"
#include "collector/run/recording_lock.h"

namespace tutti::collector {
namespace {

std::vector<std::string> Recorders(const std::string& run_path) {
  std::vector<std::string> paths;
  for (const std::string& name : os::ListDirectory(run_path + "/.spool")) {
    const std::string path = run_path + "/.spool/" + name;
    if (run::IsRecording(path)) paths.push_back(path);
  }
  return paths;
}

Status Ask(const std::string& spool_path, const std::string& wish) {
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor directory, os::OpenDirectory(spool_path));
  return os::WriteFileAtomically(directory.get(), drain::kControlFile, wish);
}

// A recorder that has ended in between took it too: there is nothing left to record.
bool IsTaken(const std::string& spool_path) {
  return !os::Exists(spool_path + "/" + drain::kControlFile);
}

template <typename Condition>
Status WaitUntil(const std::vector<std::string>& recorders, Condition&& is_done,
                 int64_t timeout_ns) {
  const int64_t deadline_ns = clock::MonotonicRawNs() + timeout_ns;
  for (const std::string& recorder : recorders) {
    while (!is_done(recorder)) {
      if (clock::MonotonicRawNs() > deadline_ns) {
        return IoError("the recorder of " + recorder + " does not answer");
      }
      const timespec pause{0, 5'000'000};
      ::nanosleep(&pause, nullptr);
    }
  }
  return OkStatus();
}

}  // namespace

Result<int> ControlRecording(const std::string& run_path, std::string_view wish,
                             int64_t timeout_ns) {
  const auto parsed = drain::ParseWish(wish);
  if (!parsed) {
    return UsageError("'" + std::string(wish) + "': start, stop and steps A:B are possible");
  }
  const std::vector<std::string> recorders = Recorders(run_path);
  if (recorders.empty()) return BadDataError(run_path + " is not being recorded");
  for (const std::string& recorder : recorders) {
    TUTTI_RETURN_IF_ERROR(Ask(recorder, drain::ToText(*parsed)));
  }
  TUTTI_RETURN_IF_ERROR(WaitUntil(recorders, IsTaken, timeout_ns));
  return static_cast<int>(recorders.size());
}

Result<std::string> DumpWindow(const std::string& run_path, int64_t timeout_ns) {
  std::vector<std::string> recorders = Recorders(run_path);
  if (recorders.empty()) return BadDataError(run_path + " is not being recorded");
  std::erase_if(recorders, [](const std::string& path) { return !drain::KeepsWindow(path); });
  if (recorders.empty()) {
    return BadDataError(run_path +
                        " is recorded as a whole: only tutti record --live has a window");
  }
  TUTTI_ASSIGN_OR_RETURN(const std::string path, drain::MakeDumpDirectory(run_path, "asked"));
  const std::string name = path.substr(path.rfind('/') + 1);
  for (const std::string& recorder : recorders) {
    TUTTI_RETURN_IF_ERROR(drain::AskForDump(recorder, name, "asked by tutti ctl"));
  }
  TUTTI_RETURN_IF_ERROR(WaitUntil(
      recorders,
      [&](const std::string& recorder) { return !drain::IsAskedForDump(recorder, name); },
      timeout_ns));
  return path;
}

}  // namespace tutti::collector
