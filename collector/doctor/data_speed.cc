// How fast training data can be read.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "collector/doctor/checks.h"
#include "collector/os/file_descriptor.h"
#include "collector/os/files.h"

namespace tutti::collector::doctor {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostBytes = 256 << 20;  // read in all
constexpr size_t kMostFiles = 10'000;      // looked at
constexpr size_t kChunkBytes = 1 << 20;

struct Sample {
  int64_t bytes = 0;
  int64_t ns = 0;
};

// The largest of the first kMostFiles regular files below a folder, largest first.
Result<std::vector<std::pair<int64_t, std::string>>> FilesBelow(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return std::vector{std::pair{int64_t{0}, path}};
  if (!fs::is_directory(path, error)) return NotFoundError(path + ": no such file or folder");
  std::vector<std::pair<int64_t, std::string>> files;
  fs::recursive_directory_iterator walk(path, fs::directory_options::skip_permission_denied, error);
  for (; !error && walk != fs::recursive_directory_iterator() && files.size() < kMostFiles;
       walk.increment(error)) {
    std::error_code ignored;
    if (!walk->is_regular_file(ignored) || walk->is_symlink(ignored)) continue;
    files.emplace_back(static_cast<int64_t>(walk->file_size(ignored)), walk->path().string());
  }
  std::ranges::sort(files, std::greater<>());
  return files;
}

// Reads a file from its begin, without what the page cache holds of it.
Status ReadOne(const std::string& path, Sample& sample) {
  const os::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return os::ErrnoStatus(path, errno);
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  std::vector<char> chunk(kChunkBytes);
  const auto begin = std::chrono::steady_clock::now();
  while (sample.bytes < kMostBytes) {
    const ssize_t read = ::read(file.get(), chunk.data(), chunk.size());
    if (read < 0 && errno == EINTR) continue;
    if (read < 0) return os::ErrnoStatus(path, errno);
    if (read == 0) break;
    sample.bytes += read;
  }
  const auto time = std::chrono::steady_clock::now() - begin;
  sample.ns += std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  return OkStatus();
}

}  // namespace

Result<Checkup> CheckDataSpeed(const std::string& path) {
  constexpr int64_t kSlowBytesPerSecond = 200 << 20;  // what one hard disk reads in order
  TUTTI_ASSIGN_OR_RETURN(const auto files, FilesBelow(path));
  Sample sample;
  for (const auto& [bytes, name] : files) {
    TUTTI_RETURN_IF_ERROR(ReadOne(name, sample));
    if (sample.bytes >= kMostBytes) break;
  }
  if (sample.bytes == 0) return NotFoundError(path + ": holds no data to read");
  const int64_t per_second =
      static_cast<int64_t>(static_cast<double>(sample.bytes) * 1e9 /
                           static_cast<double>(std::max<int64_t>(sample.ns, 1)));
  Checkup checkup{"data_speed", Health::kGood,
                  std::to_string(per_second >> 20) + " MiB/s over " +
                      std::to_string(sample.bytes >> 20) + " MiB read in order by one reader",
                  ""};
  if (per_second >= kSlowBytesPerSecond) return checkup;
  checkup.health = Health::kNote;
  checkup.advice =
      "if steps wait for input: copy the data to a local disk, or read larger pieces with more "
      "workers";
  return checkup;
}

}  // namespace tutti::collector::doctor
