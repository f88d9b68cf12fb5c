#include "collector/spool/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "collector/os/files.h"

namespace tutti::collector::spool {
namespace {

// pwritev until all is written. The pieces are consumed.
Status WriteAllAt(int fd, std::span<iovec> pieces, uint64_t offset) {
  while (!pieces.empty()) {
    if (pieces.front().iov_len == 0) {
      pieces = pieces.subspan(1);
      continue;
    }
    const ssize_t written =
        ::pwritev(fd, pieces.data(), static_cast<int>(pieces.size()), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return os::ErrnoStatus("spool", errno);
    offset += static_cast<uint64_t>(written);
    for (size_t left = static_cast<size_t>(written); left > 0;) {
      iovec& piece = pieces.front();
      const size_t taken = std::min(left, piece.iov_len);
      piece.iov_base = static_cast<char*>(piece.iov_base) + taken;
      piece.iov_len -= taken;
      left -= taken;
      if (piece.iov_len == 0) pieces = pieces.subspan(1);
    }
  }
  return OkStatus();
}

}  // namespace

Result<SpoolWriter> SpoolWriter::Create(int directory, const std::string& name) {
  TUTTI_ASSIGN_OR_RETURN(os::FileDescriptor fd, os::CreateExclusive(directory, name));
  return SpoolWriter(std::move(fd), 0);
}

Result<SpoolWriter> SpoolWriter::Continue(int directory, const std::string& name, uint64_t offset) {
  os::FileDescriptor fd(::openat(directory, name.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid() || ::ftruncate(fd.get(), static_cast<off_t>(offset)) != 0) {
    return os::ErrnoStatus(name, errno);
  }
  return SpoolWriter(std::move(fd), offset);
}

Status SpoolWriter::Append(ChunkKind kind, std::span<const iovec> pieces) {
  ChunkHeader header{kChunkMagic, kind, kSpoolVersion, 0};
  std::vector<iovec> all{{&header, sizeof(header)}};
  for (const iovec& piece : pieces) {
    header.payload_bytes += piece.iov_len;
    all.push_back(piece);
  }
  const uint64_t offset = committed_bytes();
  const Status status = WriteAllAt(fd_.get(), all, offset);
  if (!status.ok()) {
    // Shrinking needs no space. Should it fail all the same, the next write overwrites
    // the remains and readers stop at them.
    if (::ftruncate(fd_.get(), static_cast<off_t>(offset)) != 0) return status;
    return status;
  }
  committed_bytes_.store(offset + sizeof(header) + header.payload_bytes, std::memory_order_release);
  return OkStatus();
}

Status SpoolWriter::AppendBytes(ChunkKind kind, std::string_view bytes) {
  const iovec piece{const_cast<char*>(bytes.data()), bytes.size()};
  return Append(kind, std::span(&piece, 1));
}

std::string EncodeNote(wire::NoteSeverity severity, int64_t count, int64_t begin_raw_ns,
                       int64_t end_raw_ns, std::string_view name, std::string_view source,
                       std::string_view detail, std::string_view advice) {
  NoteChunk note{};
  note.severity = severity;
  note.count = count;
  note.begin_raw_ns = begin_raw_ns;
  note.end_raw_ns = end_raw_ns;
  const std::array texts{name, source, detail, advice};
  std::string bytes(sizeof(note), '\0');
  for (size_t text = 0; text < texts.size(); ++text) {
    const std::string_view kept = texts[text].substr(0, UINT16_MAX);
    note.text_bytes[text] = static_cast<uint16_t>(kept.size());
    bytes += kept;
  }
  bytes.replace(0, sizeof(note), reinterpret_cast<const char*>(&note), sizeof(note));
  return bytes;
}

}  // namespace tutti::collector::spool
