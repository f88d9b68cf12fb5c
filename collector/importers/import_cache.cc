#include "collector/importers/import_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "collector/importers/input_file.h"
#include "collector/os/files.h"
#include "collector/run/staged_run.h"
#include "collector/version.h"
#include "schema/sql.h"

namespace tutti::collector::importers {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::hours kLifetime{7 * 24};
// Between the making of an entry's directory and the locking of what is made in it.
constexpr std::chrono::seconds kTimeToLock{10};

std::string Variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets any
  return value == nullptr ? "" : value;
}

}  // namespace

Result<std::string> ImportCacheDirectory() {
  std::string base = Variable("XDG_CACHE_HOME");
  if (!base.starts_with('/')) base = Variable("HOME").empty() ? "" : Variable("HOME") + "/.cache";
  if (!base.starts_with('/')) {
    return UnavailableError(
        "no HOME or XDG_CACHE_HOME to import into; use: tutti import FILE -o RUN");
  }
  const std::string directory = base + "/tutti/imports";
  const Status made = os::MakeDirectories(directory);
  if (!made.ok()) return IoError(made.message() + "; use: tutti import FILE -o RUN");
  return directory;
}

Result<std::string> ImportCacheKey(const std::string& path) {
  TUTTI_ASSIGN_OR_RETURN(const std::vector<FileState> files, ListStates(path));
  std::error_code error;
  std::string text = std::string(kVersion) + '\n' + std::to_string(schema::kSchemaVersion) + '\n' +
                     fs::absolute(path, error).string() + '\n';
  // Another build of the same version may read more of the file.
  text += std::to_string(fs::last_write_time("/proc/self/exe", error).time_since_epoch().count());
  for (const FileState& file : files) {
    text +=
        '\n' + file.name + '\0' + std::to_string(file.bytes) + '\0' + std::to_string(file.mtime_ns);
  }
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  char name[40];
  std::snprintf(name, sizeof(name), "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                static_cast<unsigned long long>(hash.low64));
  return std::string(name);
}

bool TouchImport(const std::string& entry_path) {
  return ::utimensat(AT_FDCWD, entry_path.c_str(), nullptr, 0) == 0;
}

void RemoveOldImports(const std::string& directory) {
  const auto now = fs::file_time_type::clock::now();
  for (const std::string& name : os::ListDirectory(directory)) {
    const std::string path = directory + "/" + name;
    std::error_code error;
    const auto age = now - fs::last_write_time(path, error);
    if (error) continue;
    const bool is_dead = name.ends_with(kUnfinished) && age > kTimeToLock && !run::IsStaging(path);
    if (is_dead || age > kLifetime) os::RemoveTree(path);
  }
}

}  // namespace tutti::collector::importers
