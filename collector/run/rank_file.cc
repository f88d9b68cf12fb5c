#include "collector/run/rank_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "collector/os/files.h"

namespace tutti::collector::run {
namespace {

// A job that restarted this often, or has so many ranks, has other problems.
constexpr int32_t kMaxTries = 1 << 20;

std::string FullPath(const std::string& run_path, const std::string& name) {
  return run_path + "/" + name;
}

std::string ClaimPath(const std::string& run_path, std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return run_path + "/.spool/" + name + ".claim";
}

// Whether the claim is |owner|'s now.
Result<bool> TryClaim(const std::string& run_path, const std::string& owner,
                      const std::string& name) {
  const std::string path = FullPath(run_path, name);
  if (HasClaimed(run_path, owner, name)) return true;
  if (os::Exists(path) || os::Exists(path + ".part")) return false;
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor directory,
                         os::OpenDirectory(run_path + "/.spool"));
  const std::string temporary = ".claim." + os::RandomHex(8);
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor fd,
                         os::CreateExclusive(directory.get(), temporary));
  Status status = os::WriteFully(fd.get(), owner.data(), owner.size());
  bool claimed = false;
  if (status.ok()) {
    claimed = ::linkat(directory.get(), temporary.c_str(), AT_FDCWD,
                       ClaimPath(run_path, name).c_str(), 0) == 0;
    if (!claimed && errno != EEXIST) status = os::ErrnoStatus(name, errno);
  }
  ::unlinkat(directory.get(), temporary.c_str(), 0);
  if (!status.ok()) return status;
  // Published by another in between: its claim was gone before ours was made.
  if (claimed && os::Exists(path)) {
    ::unlink(ClaimPath(run_path, name).c_str());
    return false;
  }
  return claimed;
}

}  // namespace

std::string RankFileName(int32_t rank, int32_t attempt) {
  char file[64];
  std::snprintf(file, sizeof(file), "rank-%05d.sqlite", rank);
  if (attempt == 0) return file;
  return "attempt-" + std::to_string(attempt) + "/" + file;
}

std::optional<ClaimedName> ParseRankFileName(const std::string& name) {
  int32_t attempt = 0;
  int32_t rank = 0;
  const bool is_later =
      std::sscanf(name.c_str(), "attempt-%d/rank-%d.sqlite", &attempt, &rank) == 2;
  if (!is_later) {
    attempt = 0;
    if (std::sscanf(name.c_str(), "rank-%d.sqlite", &rank) != 1) return std::nullopt;
  }
  // Whatever else sscanf lets through is not a name that we make.
  if (rank < 0 || attempt < 0 || RankFileName(rank, attempt) != name) return std::nullopt;
  return ClaimedName{name, rank, attempt};
}

bool HasClaimed(const std::string& run_path, const std::string& owner, const std::string& name) {
  const auto text = os::ReadSmallFile(ClaimPath(run_path, name));
  return text.ok() && *text == owner;
}

Result<ClaimedName> ClaimRankFile(const std::string& run_path, const std::string& owner,
                                  int32_t rank, int32_t attempt) {
  for (int32_t tried = attempt; tried - attempt < kMaxTries; ++tried) {
    const std::string name = RankFileName(rank, tried);
    TUTTI_ASSIGN_OR_RETURN(const bool claimed, TryClaim(run_path, owner, name));
    if (claimed) return ClaimedName{name, rank, tried};
  }
  return IoError(run_path + ": no free name for rank " + std::to_string(rank));
}

Result<ClaimedName> ClaimFreeRank(const std::string& run_path, const std::string& owner) {
  for (int32_t rank = 0; rank < kMaxTries; ++rank) {
    const std::string name = RankFileName(rank, 0);
    TUTTI_ASSIGN_OR_RETURN(const bool claimed, TryClaim(run_path, owner, name));
    if (claimed) return ClaimedName{name, rank, 0};
  }
  return IoError(run_path + ": no free rank");
}

Result<std::string> CleanPartPath(const std::string& run_path, const std::string& name) {
  const size_t slash = name.rfind('/');
  if (slash != std::string::npos) {
    TUTTI_RETURN_IF_ERROR(os::MakeDirectories(FullPath(run_path, name.substr(0, slash))));
  }
  std::string part = FullPath(run_path, name) + ".part";
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".ballast"}) {
    ::unlink((part + suffix).c_str());
  }
  return part;
}

Status PublishRankFile(const std::string& run_path, const std::string& name) {
  const std::string path = FullPath(run_path, name);
  if (os::Exists(path + ".part")) {
    TUTTI_RETURN_IF_ERROR(os::RenameNoReplace(AT_FDCWD, path + ".part", path));
  }
  ::unlink(ClaimPath(run_path, name).c_str());
  return OkStatus();
}

}  // namespace tutti::collector::run
