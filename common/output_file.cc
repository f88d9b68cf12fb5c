#include "common/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace tutti {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

std::string Reason(int error) { return std::strerror(error); }  // NOLINT(concurrency-mt-unsafe)

}  // namespace

Result<OutputFile> OutputFile::Create(const std::string& path, bool replace) {
  std::error_code ignored;
  if (!replace && std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    return IoError(path + ": exists; give -f to replace it");
  }
  const std::string part = path + ".part";
  std::filesystem::remove(part, ignored);  // of an export that was killed
  const int descriptor =
      open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return IoError(part + ": " + Reason(errno));
  return OutputFile(path, descriptor);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)),
      status_(std::move(other.status_)) {}

OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(PartPath().c_str());
}

void OutputFile::Write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) Flush();
}

void OutputFile::Flush() {
  size_t done = 0;
  while (done < buffer_.size() && status_.ok()) {
    const ssize_t written = write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) status_ = IoError(path_ + ": " + Reason(errno));
    if (written > 0) done += static_cast<size_t>(written);
  }
  buffer_.clear();
}

Status OutputFile::Finish() {
  Flush();
  if (status_.ok() && rename(PartPath().c_str(), path_.c_str()) != 0) {
    status_ = IoError(path_ + ": " + Reason(errno));
  }
  if (!status_.ok()) return status_;
  close(std::exchange(descriptor_, -1));
  return OkStatus();
}

Status MakeFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return IoError(path + ": " + error.message());
  return OkStatus();
}

}  // namespace tutti
