#include "collector/importers/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "collector/importers/byte_source.h"
#include "collector/os/file_descriptor.h"

namespace tutti::collector::importers {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepest = 16;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "rank2" before "rank10": people count, so runs of digits compare by value.
bool NaturallyLess(std::string_view a, std::string_view b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!IsDigit(a[i]) || !IsDigit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    while (i < a.size() && a[i] == '0') ++i;
    while (j < b.size() && b[j] == '0') ++j;
    size_t a_end = i;
    size_t b_end = j;
    while (a_end < a.size() && IsDigit(a[a_end])) ++a_end;
    while (b_end < b.size() && IsDigit(b[b_end])) ++b_end;
    if (a_end - i != b_end - j) return a_end - i < b_end - j;
    const int order = a.substr(i, a_end - i).compare(b.substr(j, b_end - j));
    if (order != 0) return order < 0;
    i = a_end;
    j = b_end;
  }
  if (i == a.size() && j == b.size()) return a < b;  // differ in leading zeros, or are equal
  return i == a.size();
}

// Without waiting: the path may have become a pipe since it was looked at.
Result<std::string> ReadStart(const std::string& path) {
  const os::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::string head(kHeadBytes, '\0');
  const ssize_t count = file.valid() ? ::read(file.get(), head.data(), head.size()) : -1;
  if (count < 0) {
    return IoError(path + ": " + std::error_code(errno, std::generic_category()).message());
  }
  head.resize(static_cast<size_t>(count));
  return head;
}

// What is at a path, or below it.
struct Found {
  std::vector<std::string> paths;       // sorted, each file once
  std::vector<std::string> unreadable;  // one plain line each
  size_t named_unreadable = 0;
};

// Of a path at which nothing can be had, for the reason `error`.
std::string WhyNotThere(const fs::path& path, const std::error_code& error) {
  std::error_code ignored;
  if (fs::is_symlink(path, ignored)) {
    return path.string() + ": a symbolic link that leads to no file; copy the file itself here";
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return path.string() + ": " + error.message();
  }
  return path.string() + ": there is no such file or directory";
}

void AddDirectory(const fs::path& directory, int depth, Found& found) {
  std::error_code error;
  fs::directory_iterator entries(directory, error);
  if (error) {
    found.unreadable.push_back(directory.string() + ": " + error.message());
    return;
  }
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const fs::directory_entry& entry = *entries;
    std::error_code ignored;
    std::error_code failed;
    if (entry.path().filename().string().starts_with('.')) continue;
    const bool is_folder = entry.is_directory(ignored) && !entry.is_symlink(ignored);
    if (is_folder && depth < kDeepest) {
      AddDirectory(entry.path(), depth + 1, found);
    } else if (is_folder) {
      found.unreadable.push_back(entry.path().string() + ": more than " + std::to_string(kDeepest) +
                                 " folders deep, left out; import it by its own name");
    } else if (entry.is_regular_file(ignored)) {
      found.paths.push_back(entry.path().string());
    } else if (!fs::exists(entry.status(failed))) {  // it may have been a rank's
      found.unreadable.push_back(WhyNotThere(entry.path(), failed));
    }
  }
  if (error) found.unreadable.push_back(directory.string() + ": " + error.message());
}

// A file that was named twice, or is also in a directory that was named, counts once; under its
// own name rather than that of a link to it.
void RemoveRepeated(std::vector<std::string>& paths) {
  std::stable_partition(paths.begin(), paths.end(), [](const std::string& path) {
    std::error_code error;
    return !fs::is_symlink(path, error);
  });
  std::set<std::string> seen;
  std::erase_if(paths, [&seen](const std::string& path) {
    std::error_code error;
    const fs::path canonical = fs::canonical(path, error);
    return !error && !seen.insert(canonical.string()).second;
  });
}

Status AddPath(const std::string& path, Found& found) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return NotFoundError(WhyNotThere(path, error));
  if (fs::is_directory(status)) {
    AddDirectory(path, 0, found);
  } else if (fs::is_regular_file(status)) {
    found.paths.push_back(path);
  } else {
    return BadDataError(path + ": not a regular file");
  }
  return OkStatus();
}

Result<Found> Find(const std::vector<std::string>& paths) {
  Found found;
  Status first_failure;
  for (const std::string& path : paths) {
    const Status added = AddPath(path, found);
    if (added.ok()) continue;
    found.unreadable.push_back(added.message());
    ++found.named_unreadable;
    if (first_failure.ok()) first_failure = added;
  }
  if (found.named_unreadable == paths.size()) return first_failure;
  RemoveRepeated(found.paths);
  std::stable_sort(found.paths.begin(), found.paths.end(), NaturallyLess);
  return found;
}

Result<InputFile> Open(const std::string& path) {
  InputFile file{.path = path, .name = path};
  std::error_code error;
  file.bytes = static_cast<int64_t>(fs::file_size(path, error));
  TUTTI_ASSIGN_OR_RETURN(file.head, ReadStart(path));
  file.plain_head = file.head;
  if (PackingOf(file.head.data(), file.head.size()) != Packing::kPlain) {
    Result<std::string> plain = ReadHead(path, kHeadBytes);
    if (!plain.ok()) file.damage = plain.status().message();
    file.plain_head = plain.ok() ? std::move(plain).value() : "";
  }
  return file;
}

}  // namespace

std::string_view FileName(const InputFile& file) {
  const std::string_view name = file.name;
  return name.substr(name.rfind('/') + 1);
}

Result<InputList> ListInputs(const std::vector<std::string>& paths) {
  TUTTI_ASSIGN_OR_RETURN(Found found, Find(paths));
  InputList list;
  list.unreadable = std::move(found.unreadable);
  list.named_unreadable = found.named_unreadable;
  for (const std::string& path : found.paths) {
    Result<InputFile> file = Open(path);
    if (file.ok()) {
      list.files.push_back(std::move(file).value());
    } else {
      list.unreadable.push_back(file.status().message());
      if (std::find(paths.begin(), paths.end(), path) != paths.end()) ++list.named_unreadable;
    }
  }
  return list;
}

Result<std::vector<FileState>> ListStates(const std::string& path) {
  TUTTI_ASSIGN_OR_RETURN(const Found found, Find({path}));
  std::vector<FileState> states;
  for (const std::string& name : found.paths) {
    struct stat info {};
    if (::stat(name.c_str(), &info) != 0) continue;
    constexpr int64_t kNsPerSecond = 1'000'000'000;
    states.push_back({.name = name,
                      .bytes = info.st_size,
                      .mtime_ns = info.st_mtim.tv_sec * kNsPerSecond + info.st_mtim.tv_nsec});
  }
  return states;
}

}  // namespace tutti::collector::importers
