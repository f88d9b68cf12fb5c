#include "collector/spool/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "collector/os/files.h"

namespace tutti::collector::spool {
namespace {

// More than any chunk that the drainer writes (a ring's whole content); bounds what a
// damaged header can make us allocate.
constexpr uint64_t kMaxPayloadBytes = uint64_t{1} << 32;

}  // namespace

Result<SpoolReader> SpoolReader::Open(int directory, const std::string& name) {
  os::FileDescriptor fd(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid()) return os::ErrnoStatus(name, errno);
  return SpoolReader(std::move(fd));
}

uint64_t SpoolReader::file_bytes() const {
  struct stat info;
  if (::fstat(fd_.get(), &info) != 0) return 0;
  return static_cast<uint64_t>(info.st_size);
}

bool SpoolReader::ReadAt(void* into, size_t bytes, uint64_t offset) const {
  char* next = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = ::pread(fd_.get(), next, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    next += got;
    bytes -= static_cast<size_t>(got);
    offset += static_cast<uint64_t>(got);
  }
  return true;
}

std::optional<Chunk> SpoolReader::ChunkAt(uint64_t offset, uint64_t limit) const {
  ChunkHeader header;
  if (limit < sizeof(header) || offset > limit - sizeof(header)) return std::nullopt;
  if (!ReadAt(&header, sizeof(header), offset)) return std::nullopt;
  const uint64_t payload_offset = offset + sizeof(header);
  if (header.magic != kChunkMagic || header.version != kSpoolVersion ||
      header.payload_bytes > kMaxPayloadBytes || header.payload_bytes > limit - payload_offset) {
    return std::nullopt;
  }
  return Chunk{header.kind, payload_offset, header.payload_bytes};
}

Result<std::span<const std::byte>> SpoolReader::Read(const Chunk& chunk) {
  if (buffer_.size() < chunk.payload_bytes) buffer_.resize(chunk.payload_bytes);
  if (!ReadAt(buffer_.data(), chunk.payload_bytes, chunk.payload_offset)) {
    return os::ErrnoStatus("spool", errno);
  }
  return std::span<const std::byte>(buffer_.data(), chunk.payload_bytes);
}

}  // namespace tutti::collector::spool
