// Appends chunks to a spool file. A chunk is there as a whole or not at all: what a
// failed write left behind is cut off again. Nothing is buffered: what Append
// reported as written survives our own SIGKILL.
// One thread appends; committed_bytes() may be asked from any thread.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "collector/os/file_descriptor.h"
#include "collector/spool/format.h"
#include "common/status.h"

namespace tutti::collector::spool {

class SpoolWriter {
 public:
  // Starts a new file; kIo if it exists.
  static Result<SpoolWriter> Create(int directory, const std::string& name);
  // Continues a file after its last whole chunk, at |offset| (reader.h finds it).
  static Result<SpoolWriter> Continue(int directory, const std::string& name, uint64_t offset);

  SpoolWriter(SpoolWriter&& other) noexcept
      : fd_(std::move(other.fd_)), committed_bytes_(other.committed_bytes_.load()) {}
  SpoolWriter& operator=(SpoolWriter&& other) noexcept {
    fd_ = std::move(other.fd_);
    committed_bytes_.store(other.committed_bytes_.load());
    return *this;
  }

  // |pieces| together are the payload. On failure nothing was added.
  Status Append(ChunkKind kind, std::span<const iovec> pieces);

  // Payload = the bytes of one struct.
  template <typename Payload>
  Status AppendStruct(ChunkKind kind, const Payload& payload) {
    static_assert(std::is_trivially_copyable_v<Payload>);
    const iovec piece{const_cast<Payload*>(&payload), sizeof(payload)};
    return Append(kind, std::span(&piece, 1));
  }
  Status AppendBytes(ChunkKind kind, std::string_view bytes);

  // End of the last whole chunk.
  uint64_t committed_bytes() const { return committed_bytes_.load(std::memory_order_acquire); }

 private:
  SpoolWriter(os::FileDescriptor fd, uint64_t offset)
      : fd_(std::move(fd)), committed_bytes_(offset) {}

  os::FileDescriptor fd_;
  std::atomic<uint64_t> committed_bytes_;
};

// Description of a finding, as Append(kNote) takes it.
std::string EncodeNote(wire::NoteSeverity severity, int64_t count, int64_t begin_raw_ns,
                       int64_t end_raw_ns, std::string_view name, std::string_view source,
                       std::string_view detail, std::string_view advice);

}  // namespace tutti::collector::spool
