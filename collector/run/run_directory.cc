#include "collector/run/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "collector/os/files.h"
#include "collector/run/manifest.h"
#include "collector/run/name_pattern.h"
#include "collector/run/recording_lock.h"
#include "collector/run/staged_run.h"

namespace tutti::collector::run {
namespace {

constexpr int kMaxNumber = 1'000'000;

// Absolute, without slashes at the end.
std::string Absolute(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (path.starts_with('/')) return path;
  char current[PATH_MAX];
  if (::getcwd(current, sizeof(current)) == nullptr) return path;
  return std::string(current) + "/" + path;
}

// Makes the directory; whether it was new.
Result<bool> MakeRun(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash > 0) TUTTI_RETURN_IF_ERROR(os::MakeDirectories(path.substr(0, slash), 0777));
  if (::mkdir(path.c_str(), 0700) == 0) return true;
  if (errno != EEXIST) return os::ErrnoStatus(path, errno);
  return false;
}

// SQLite opens no file whose path is longer (MAX_PATHNAME of its unix VFS), the longest of ours
// being a rank file's journal.
constexpr size_t kMaxSqlitePath = 512;
constexpr std::string_view kLongestName = "/attempt-1048576/rank-1048576.sqlite.part-journal";

Status CheckLength(const std::string& path) {
  constexpr size_t kLongest = kMaxSqlitePath - kLongestName.size();
  if (path.size() <= kLongest) return OkStatus();
  return UsageError("the run's path has " + std::to_string(path.size()) + " bytes, of at most " +
                    std::to_string(kLongest) + ": " + path.substr(0, 60) + "…");
}

// A symbolic link may lead to a longer path than it has.
Status CheckLengthOfMade(const std::string& path, bool created) {
  char real[PATH_MAX];
  if (::realpath(path.c_str(), real) == nullptr) return os::ErrnoStatus(path, errno);
  const Status status = CheckLength(real);
  if (!status.ok() && created) ::rmdir(path.c_str());
  return status;
}

struct MadeRun {
  std::string path;
  bool created;
};

Result<MadeRun> FindPlace(const RunRequest& request, GetVariable get) {
  for (int number = 1; number < kMaxNumber; ++number) {
    TUTTI_ASSIGN_OR_RETURN(const std::string name, ExpandName(request.pattern, number, get));
    if (name.empty()) return UsageError("the output name is empty");
    const std::string path = Absolute(name);
    TUTTI_RETURN_IF_ERROR(CheckLength(path));
    TUTTI_ASSIGN_OR_RETURN(const bool created, MakeRun(path));
    TUTTI_RETURN_IF_ERROR(CheckLengthOfMade(path, created));
    if (created || !HasNumber(request.pattern)) return MadeRun{path, created};
  }
  return UsageError(request.pattern + ": no free number");
}

// Whether the name is one that a run directory holds.
bool BelongsToRun(std::string_view name) {
  constexpr std::string_view kNames[] = {"manifest.d", ".spool", kLockName, kDumpsName};
  constexpr std::string_view kPrefixes[] = {"rank-", "attempt-", "run.sqlite", "report."};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

Result<os::FileDescriptor> LockOpening(const std::string& path) {
  const std::string lock_path = path + "/" + kLockName;
  os::FileDescriptor lock(
      ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock.valid()) return os::ErrnoStatus(lock_path, errno);
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return os::ErrnoStatus(lock_path, errno);
  }
  return lock;
}

struct Inhabitants {
  bool any_live = false;
  bool live_of_job = false;
  bool all_of_job = true;
  std::optional<clock::Anchor> anchor;
};

Inhabitants Inspect(const std::string& path, const std::vector<std::string>& manifests,
                    const RunRequest& request) {
  Inhabitants found;
  for (const std::string& name : manifests) {
    const auto manifest = ReadManifest(path, name);
    const bool of_job = manifest.ok() && manifest->job_id == request.job.id;
    const bool live = IsRecording(SpoolPathOf(path, name));
    found.any_live = found.any_live || live;
    found.live_of_job = found.live_of_job || (live && of_job);
    found.all_of_job = found.all_of_job && of_job;
    if (manifest.ok() && manifest->boot_id == request.boot_id && !request.boot_id.empty()) {
      found.anchor = manifest->anchor;
    }
  }
  return found;
}

// The directory was there before: join, say that it may be replaced, or refuse.
Status EnterExisting(OpenRun& run, const RunRequest& request) {
  std::vector<std::string> names = os::ListDirectory(run.path);
  std::erase(names, kLockName);
  if (names.empty()) return OkStatus();
  const std::vector<std::string> manifests = ListManifests(run.path);
  if (manifests.empty() || !std::all_of(names.begin(), names.end(), BelongsToRun)) {
    return UsageError(run.path + ": holds something else than a run; choose another -o");
  }
  const Inhabitants found = Inspect(run.path, manifests, request);
  if (found.live_of_job || (request.job.is_unique && found.all_of_job)) {
    run.anchor = found.anchor;
    return OkStatus();
  }
  if (found.any_live) return UsageError(run.path + ": another job is being recorded into it");
  if (!request.force) {
    return UsageError(run.path + ": holds a finished run; choose another -o, or -f to replace it");
  }
  run.replaces = true;
  return OkStatus();
}

}  // namespace

Result<OpenRun> OpenRunDirectory(const RunRequest& request, GetVariable get) {
  TUTTI_ASSIGN_OR_RETURN(const MadeRun made, FindPlace(request, get));
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor directory, os::OpenDirectory(made.path));
  OpenRun run;
  run.path = made.path;
  run.created = made.created;
  TUTTI_ASSIGN_OR_RETURN(run.opening, LockOpening(run.path));
  TUTTI_RETURN_IF_ERROR(RecoverStagedRun(run.path));
  // Also where it is new: another recorder may have got the lock first.
  TUTTI_RETURN_IF_ERROR(EnterExisting(run, request));
  return run;
}

void RemoveFinishedRun(const std::string& run_path) {
  for (const std::string& name : os::ListDirectory(run_path)) {
    if (name != kLockName) os::RemoveTree(run_path + "/" + name);
  }
}

std::string SpoolPathOf(const std::string& run_path, const std::string& manifest_name) {
  return run_path + "/.spool/" + manifest_name.substr(0, manifest_name.rfind(".json"));
}

void RemoveEmptyRun(const std::string& run_path, const std::string& manifest_name) {
  ::unlink((run_path + "/manifest.d/" + manifest_name).c_str());
  ::rmdir((run_path + "/manifest.d").c_str());
  ::rmdir((run_path + "/.spool").c_str());
  const std::vector<std::string> left = os::ListDirectory(run_path);
  if (left.size() == 1 && left.front() == kLockName) {
    ::unlink((run_path + "/" + kLockName).c_str());
    ::rmdir(run_path.c_str());
  }
}

}  // namespace tutti::collector::run
