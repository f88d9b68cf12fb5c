#include "collector/importers/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "collector/importers/byte_source_streams.h"
#include "collector/os/file_descriptor.h"
#include "collector/os/interruption.h"

namespace tutti::collector::importers {
namespace {

// Part of a file. Reads at positions, so that the members of one archive don't disturb
// one another.
class FileSource final : public ByteSource {
 public:
  FileSource(os::FileDescriptor file, std::string path, int64_t offset, int64_t byte_count)
      : file_(std::move(file)), path_(std::move(path)), offset_(offset), left_(byte_count) {}

  Result<size_t> Read(char* to, size_t size) override {
    if (left_ >= 0) size = std::min<uint64_t>(size, static_cast<uint64_t>(left_));
    if (size == 0) return size_t{0};
    TUTTI_RETURN_IF_ERROR(os::Interruption::Check());
    ssize_t got = 0;
    do {
      got = ::pread(file_.get(), to, size, offset_);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return IoError(path_ + ": " + std::generic_category().message(errno));
    offset_ += got;
    if (left_ >= 0) left_ -= got;
    return static_cast<size_t>(got);
  }

 private:
  os::FileDescriptor file_;
  std::string path_;
  int64_t offset_;
  int64_t left_;  // < 0: to the end of the file
};

Result<os::FileDescriptor> OpenRegularFile(const std::string& path, int64_t& byte_count) {
  // Without O_NONBLOCK, opening a fifo would wait for a writer.
  os::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) {
    const int error = errno;
    const std::string message = path + ": " + std::generic_category().message(error);
    return error == ENOENT ? NotFoundError(message) : IoError(message);
  }
  struct stat facts = {};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return IoError(path + ": not a regular file");
  }
  byte_count = facts.st_size;
  return file;
}

Result<std::unique_ptr<ByteSource>> OpenPacked(const std::string& path, Packing packing,
                                               const ByteLimits& limits) {
  TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> file, OpenFileRange(path, 0, -1));
  TUTTI_ASSIGN_OR_RETURN(const int64_t file_bytes, FileBytes(path));
  switch (packing) {
    case Packing::kGzip:
      return UnpackNested(MakeGzipSource(std::move(file), path, limits), path, file_bytes, limits);
    case Packing::kZstd:
      return UnpackNested(MakeZstdSource(std::move(file), path, limits), path, file_bytes, limits);
    case Packing::kZip:
      return UsageError(path + ": an archive; its members are opened one by one");
    case Packing::kPlain:
      break;
  }
  return file;
}

Result<std::string> ReadUpTo(ByteSource& source, size_t size) {
  std::string bytes(size, '\0');
  size_t filled = 0;
  while (filled < size) {
    const Result<size_t> got = source.Read(bytes.data() + filled, size - filled);
    if (!got.ok() && (filled == 0 || source.refused())) return got.status();
    if (!got.ok() || *got == 0) break;
    filled += *got;
  }
  bytes.resize(filled);
  return bytes;
}

Result<Packing> PackingOfFile(const std::string& path) {
  TUTTI_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> file, OpenFileRange(path, 0, -1));
  TUTTI_ASSIGN_OR_RETURN(const std::string head, ReadUpTo(*file, 4));
  return PackingOf(head.data(), head.size());
}

}  // namespace

Result<int64_t> FileBytes(const std::string& path) {
  int64_t byte_count = 0;
  TUTTI_RETURN_IF_ERROR(OpenRegularFile(path, byte_count).status());
  return byte_count;
}

Result<std::unique_ptr<ByteSource>> OpenFileRange(const std::string& path, int64_t offset,
                                                  int64_t byte_count) {
  int64_t file_bytes = 0;
  TUTTI_ASSIGN_OR_RETURN(os::FileDescriptor file, OpenRegularFile(path, file_bytes));
  (void)::posix_fadvise(file.get(), offset, 0, POSIX_FADV_SEQUENTIAL);
  return std::unique_ptr<ByteSource>(
      std::make_unique<FileSource>(std::move(file), path, offset, byte_count));
}

Packing PackingOf(const char* head, size_t size) {
  const std::string_view bytes(head, size);
  if (bytes.starts_with("\x1f\x8b")) return Packing::kGzip;
  if (bytes.starts_with("\x28\xb5\x2f\xfd")) return Packing::kZstd;
  // A local header, or the end record of an empty archive.
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06")) return Packing::kZip;
  return Packing::kPlain;
}

Result<std::unique_ptr<ByteSource>> OpenBytes(const std::string& path, const ByteLimits& limits) {
  TUTTI_ASSIGN_OR_RETURN(const Packing packing, PackingOfFile(path));
  return OpenPacked(path, packing, limits);
}

Result<std::string> ReadHead(const std::string& path, size_t size) {
  TUTTI_ASSIGN_OR_RETURN(const Packing packing, PackingOfFile(path));
  if (packing != Packing::kZip) {
    TUTTI_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenPacked(path, packing, {}));
    return ReadUpTo(*source, size);
  }
  TUTTI_ASSIGN_OR_RETURN(const ZipArchive archive, ListZip(path));
  if (archive.members.empty()) return std::string();
  TUTTI_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source,
                         OpenZipMember(path, archive.members.front()));
  return ReadUpTo(*source, size);
}

}  // namespace tutti::collector::importers
