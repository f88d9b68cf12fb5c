#include "collector/spool/reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "collector/os/files.h"
#include "collector/spool/series.h"

namespace tutti::collector::spool {
namespace {

// More than any chunk that the drainer writes (a ring's whole content); bounds what a
// damaged header can make us allocate.
constexpr uint64_t kMaxPayloadBytes = uint64_t{1} << 32;

uint64_t BytesOf(int fd) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return 0;
  return static_cast<uint64_t>(info.st_size);
}

}  // namespace

Result<SpoolReader> SpoolReader::Open(int directory, const std::string& name) {
  SpoolReader reader;
  const std::vector<std::string> files = FilesOf(directory, name);
  // The name itself says what is missing where there is no file of it.
  if (files.size() < 2) {
    TUTTI_RETURN_IF_ERROR(reader.AddPiece(directory, files.empty() ? name : files.front()));
    return reader;
  }
  for (const std::string& file : files) TUTTI_RETURN_IF_ERROR(reader.AddPiece(directory, file));
  return reader;
}

Status SpoolReader::AddPiece(int directory, const std::string& name) {
  Piece piece;
  piece.name = name;
  piece.fd.Reset(::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!piece.fd.valid()) return os::ErrnoStatus(name, errno);
  const uint64_t bytes = BytesOf(piece.fd.get());
  const bool is_first = pieces_.empty();
  if (!is_first) {
    // The one before has its last chunk: what is behind that can't be read.
    uint64_t end = pieces_.back().begin;
    while (const auto chunk = ChunkAt(end, file_bytes())) end = chunk->end_offset();
    piece.begin = end;
  }
  pieces_.push_back(std::move(piece));
  if (is_first) return OkStatus();
  Piece& added = pieces_.back();
  uint64_t at = added.begin;
  for (;;) {
    const auto chunk = ChunkAt(at, added.begin + bytes);
    if (!chunk) return BadDataError(name + ": a file of a series of spools without its head");
    at = chunk->end_offset();
    if (chunk->kind == ChunkKind::kWindow) break;
  }
  added.body_offset = at - added.begin;
  return OkStatus();
}

const SpoolReader::Piece& SpoolReader::PieceAt(uint64_t offset) const {
  size_t at = pieces_.size() - 1;
  while (at > 0 && pieces_[at].begin > offset) --at;
  return pieces_[at];
}

uint64_t SpoolReader::PieceEnd(uint64_t offset) const {
  for (const Piece& piece : pieces_) {
    if (piece.begin > offset) return piece.begin;
  }
  return UINT64_MAX;
}

SpoolReader::Place SpoolReader::PlaceOf(uint64_t offset) const {
  const Piece& piece = PieceAt(offset);
  return {piece.name, offset - piece.begin + piece.body_offset};
}

uint64_t SpoolReader::file_bytes() const {
  const Piece& last = pieces_.back();
  const uint64_t bytes = BytesOf(last.fd.get());
  return last.begin + bytes - std::min(bytes, last.body_offset);
}

bool SpoolReader::ReadAt(void* into, size_t bytes, uint64_t offset) const {
  const Piece& piece = PieceAt(offset);
  offset = offset - piece.begin + piece.body_offset;
  char* next = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t got = ::pread(piece.fd.get(), next, bytes, static_cast<off_t>(offset));
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
  limit = std::min(limit, PieceEnd(offset));
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
