// Reads the chunks of a spool, a file or a series of them (series.h), the last of which may still
// be growing and may end torn. Offsets count through a series as if it were one file.
// One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collector/os/file_descriptor.h"
#include "collector/spool/format.h"
#include "common/status.h"

namespace tutti::collector::spool {

struct Chunk {
  ChunkKind kind;
  uint64_t payload_offset;
  uint64_t payload_bytes;

  uint64_t end_offset() const { return payload_offset + payload_bytes; }
};

class SpoolReader {
 public:
  // |name|: of a file, or of a spool that is a series.
  static Result<SpoolReader> Open(int directory, const std::string& name);

  // The chunk whose header is at |offset|, if it lies wholly before |limit| and its
  // header is sound. |limit| is at most the size of the file.
  std::optional<Chunk> ChunkAt(uint64_t offset, uint64_t limit) const;

  // The chunk's payload; valid until the next call. kIo if it can't be read.
  Result<std::span<const std::byte>> Read(const Chunk& chunk);

  // The first sizeof(T) bytes of the payload; absent if it is shorter or can't be read.
  template <typename T>
  std::optional<T> ReadStruct(const Chunk& chunk) const {
    T value;
    if (chunk.payload_bytes < sizeof(T)) return std::nullopt;
    if (!ReadAt(&value, sizeof(T), chunk.payload_offset)) return std::nullopt;
    return value;
  }

  // Of all files together, less the heads that are left out.
  uint64_t file_bytes() const;

  // Where |offset| lies.
  struct Place {
    std::string file;
    uint64_t offset;
  };
  Place PlaceOf(uint64_t offset) const;

 private:
  // A file from |body_offset| on, which is |begin| of the whole.
  struct Piece {
    std::string name;
    os::FileDescriptor fd;
    uint64_t begin = 0;
    uint64_t body_offset = 0;
  };
  SpoolReader() = default;
  Status AddPiece(int directory, const std::string& name);
  const Piece& PieceAt(uint64_t offset) const;
  // Where the pieces after the one with |offset| begin; the greatest number in the last.
  uint64_t PieceEnd(uint64_t offset) const;
  bool ReadAt(void* into, size_t bytes, uint64_t offset) const;

  std::vector<Piece> pieces_;  // at least one; in order
  std::vector<std::byte> buffer_;
};

// Reads fixed-size structs and texts from a payload; every read is checked.
class PayloadReader {
 public:
  explicit PayloadReader(std::span<const std::byte> payload) : rest_(payload) {}

  template <typename T>
  bool Read(T& value) {
    if (rest_.size() < sizeof(T)) return false;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_ = rest_.subspan(sizeof(T));
    return true;
  }
  bool ReadText(size_t bytes, std::string_view& text) {
    if (rest_.size() < bytes) return false;
    text = {reinterpret_cast<const char*>(rest_.data()), bytes};
    rest_ = rest_.subspan(bytes);
    return true;
  }
  std::span<const std::byte> rest() const { return rest_; }

 private:
  std::span<const std::byte> rest_;
};

}  // namespace tutti::collector::spool
