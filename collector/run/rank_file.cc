#include "collector/run/rank_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "collector/os/files.h"

namespace tutti::collector::run {
namespace {

// A job that restarted this often has other problems.
constexpr int32_t kMaxAttempts = 10'000;

std::string FullPath(const std::string& run_path, const std::string& name) {
  return run_path + "/" + name;
}

Status MakeAttemptDirectory(const std::string& run_path, const std::string& name) {
  const size_t slash = name.rfind('/');
  if (slash == std::string::npos) return OkStatus();
  return os::MakeDirectories(FullPath(run_path, name.substr(0, slash)));
}

Result<OpenRankFile> Create(const std::string& run_path, const std::string& name, int32_t attempt) {
  TUTTI_RETURN_IF_ERROR(MakeAttemptDirectory(run_path, name));
  TUTTI_ASSIGN_OR_RETURN(auto writer,
                         schema::TraceWriter::Create(FullPath(run_path, name) + ".part"));
  return OpenRankFile{name, attempt, std::move(writer)};
}

}  // namespace

std::string RankFileName(int32_t rank, int32_t attempt) {
  char file[64];
  std::snprintf(file, sizeof(file), "rank-%05d.sqlite", rank);
  if (attempt == 0) return file;
  return "attempt-" + std::to_string(attempt) + "/" + file;
}

Result<OpenRankFile> CreateRankFile(const std::string& run_path, int32_t rank, int32_t attempt) {
  for (int32_t tried = attempt; tried < kMaxAttempts; ++tried) {
    const std::string name = RankFileName(rank, tried);
    const std::string path = FullPath(run_path, name);
    if (os::Exists(path) || os::Exists(path + ".part")) continue;
    Result<OpenRankFile> file = Create(run_path, name, tried);
    // Another recorder of this run may have been quicker.
    if (!file.ok() && os::Exists(path + ".part")) continue;
    return file;
  }
  return IoError(run_path + ": no free name for rank " + std::to_string(rank));
}

Result<OpenRankFile> RecreateRankFile(const std::string& run_path, const std::string& name,
                                      int32_t attempt) {
  RemovePart(run_path, name);
  return Create(run_path, name, attempt);
}

void RemovePart(const std::string& run_path, const std::string& name) {
  const std::string part = FullPath(run_path, name) + ".part";
  for (const char* suffix : {"", "-wal", "-shm", "-journal", ".ballast"}) {
    ::unlink((part + suffix).c_str());
  }
}

Status PublishRankFile(const std::string& run_path, const std::string& name) {
  const std::string path = FullPath(run_path, name);
  return os::RenameNoReplace(AT_FDCWD, path + ".part", path);
}

}  // namespace tutti::collector::run
