#include "analyzer/compare/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace tutti::analyzer::compare {
namespace {

Status Failed(const std::string& path, int error) {
  return IoError(path + ": " + std::generic_category().message(error));
}

Status WriteAll(int fd, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed(path, errno);
    text.remove_prefix(static_cast<size_t>(written));
  }
  return OkStatus();
}

Status WriteAndClose(int fd, std::string_view text, const std::string& path) {
  Status written = WriteAll(fd, text, path);
  if (::close(fd) != 0 && written.ok()) return Failed(path, errno);
  return written;
}

}  // namespace

Status ReplaceFile(const std::string& path, std::string_view text) {
  const std::string part = path + ".part-" + std::to_string(::getpid());
  const int fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return Failed(part, errno);
  Status status = WriteAndClose(fd, text, path);
  if (status.ok() && std::rename(part.c_str(), path.c_str()) != 0) status = Failed(path, errno);
  if (!status.ok()) ::unlink(part.c_str());
  return status;
}

Status AppendToFile(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return Failed(path, errno);
  return WriteAndClose(fd, text, path);
}

}  // namespace tutti::analyzer::compare
