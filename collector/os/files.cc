#include "collector/os/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <memory>
#include <system_error>

namespace tutti::collector::os {
namespace {

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};
using Directory = std::unique_ptr<DIR, CloseDirectory>;

Result<std::string> ReadUpTo(int fd, const std::string& name, size_t limit) {
  std::string text;
  std::array<char, 4096> block;
  while (text.size() < limit) {
    const ssize_t got = ::read(fd, block.data(), std::min(block.size(), limit - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(name, errno);
    if (got == 0) break;
    text.append(block.data(), static_cast<size_t>(got));
  }
  return text;
}

// Entries of a directory given by descriptor; takes the descriptor over.
std::vector<std::string> Entries(int fd) {
  std::vector<std::string> names;
  const Directory directory(::fdopendir(fd));
  if (!directory) {
    ::close(fd);
    return names;
  }
  // One DIR per call and thread: readdir is safe here.
  while (const dirent* entry = ::readdir(directory.get())) {  // NOLINT(concurrency-mt-unsafe)
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void RemoveEntry(int parent, const std::string& name) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || (errno != EISDIR && errno != EPERM)) return;
  const int fd = ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  const FileDescriptor directory(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  for (const std::string& entry : Entries(fd)) RemoveEntry(directory.get(), entry);
  ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
}

}  // namespace

Status ErrnoStatus(std::string_view what, int error) {
  return IoError(std::string(what) + ": " + std::generic_category().message(error));
}

Result<std::string> ReadSmallFileAt(int directory, const std::string& name, size_t limit) {
  const FileDescriptor fd(::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(name, errno);
  return ReadUpTo(fd.get(), name, limit);
}

Result<std::string> ReadSmallFile(const std::string& path, size_t limit) {
  return ReadSmallFileAt(AT_FDCWD, path, limit);
}

Status MakeDirectories(const std::string& path, mode_t mode) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string prefix = path.substr(0, slash);
    if (!prefix.empty() && ::mkdir(prefix.c_str(), mode) != 0 && errno != EEXIST) {
      return ErrnoStatus(prefix, errno);
    }
    if (slash == std::string::npos) return OkStatus();
  }
}

Result<FileDescriptor> OpenDirectoryAt(int directory, const std::string& name) {
  FileDescriptor fd(
      ::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(name, errno);
  return fd;
}

Result<FileDescriptor> OpenDirectory(const std::string& path) {
  return OpenDirectoryAt(AT_FDCWD, path);
}

Result<FileDescriptor> CreateExclusive(int directory, const std::string& name) {
  FileDescriptor fd(
      ::openat(directory, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd.valid()) return ErrnoStatus(name, errno);
  return fd;
}

Status WriteFully(int fd, const void* data, size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(fd, next, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoStatus("write", errno);
    next += written;
    bytes -= static_cast<size_t>(written);
  }
  return OkStatus();
}

Status WriteFileAtomically(int directory, const std::string& name, std::string_view text) {
  const std::string temporary = "." + name + "." + RandomHex(4);
  TUTTI_ASSIGN_OR_RETURN(const FileDescriptor fd, CreateExclusive(directory, temporary));
  Status status = WriteFully(fd.get(), text.data(), text.size());
  if (status.ok() && ::renameat(directory, temporary.c_str(), directory, name.c_str()) != 0) {
    status = ErrnoStatus(name, errno);
  }
  if (!status.ok()) ::unlinkat(directory, temporary.c_str(), 0);
  return status;
}

Status LinkOrCopy(int from_directory, int to_directory, const std::string& name) {
  if (::linkat(from_directory, name.c_str(), to_directory, name.c_str(), 0) == 0) return OkStatus();
  if (errno != EPERM && errno != EXDEV && errno != EOPNOTSUPP && errno != EMLINK &&
      errno != ENOSYS) {
    return ErrnoStatus(name, errno);
  }
  const FileDescriptor from(
      ::openat(from_directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!from.valid()) return ErrnoStatus(name, errno);
  TUTTI_ASSIGN_OR_RETURN(const FileDescriptor to, CreateExclusive(to_directory, name));
  std::vector<char> block(1 << 20);
  for (;;) {
    const ssize_t got = ::read(from.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(name, errno);
    if (got == 0) return OkStatus();
    TUTTI_RETURN_IF_ERROR(WriteFully(to.get(), block.data(), static_cast<size_t>(got)));
  }
}

Status RenameNoReplace(int directory, const std::string& from, const std::string& to) {
  if (::syscall(SYS_renameat2, directory, from.c_str(), directory, to.c_str(), RENAME_NOREPLACE) ==
      0) {
    return OkStatus();
  }
  if (errno != EINVAL && errno != ENOSYS) return ErrnoStatus(to, errno);
  if (::linkat(directory, from.c_str(), directory, to.c_str(), 0) != 0) {
    return ErrnoStatus(to, errno);
  }
  ::unlinkat(directory, from.c_str(), 0);
  return OkStatus();
}

std::vector<std::string> ListDirectory(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return {};
  return Entries(fd);
}

std::vector<std::string> ListDirectoryAt(int directory) {
  const int fd = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return {};
  return Entries(fd);
}

void RemoveTree(const std::string& path) { RemoveEntry(AT_FDCWD, path); }

bool Exists(const std::string& path) {
  struct stat unused;
  return ::lstat(path.c_str(), &unused) == 0;
}

int64_t FreeBytes(int fd) {
  struct statvfs info;
  if (::fstatvfs(fd, &info) != 0) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
}

std::string RandomHex(size_t bytes) {
  std::vector<unsigned char> random(bytes);
  size_t filled = 0;
  while (filled < bytes) {
    const ssize_t got = ::getrandom(random.data() + filled, bytes - filled, 0);
    if (got > 0) filled += static_cast<size_t>(got);
  }
  std::string hex;
  for (const unsigned char byte : random) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[byte >> 4];
    hex += kDigits[byte & 15];
  }
  return hex;
}

}  // namespace tutti::collector::os
