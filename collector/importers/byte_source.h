// The bytes of a trace file, streamed and decompressed: plain, gzip, zstd, or one member
// of a zip archive (stored, deflated or zstd); also where that is gzip or zstd once more. What a
// file is is read from its first bytes, never from its name.
//
// Memory is bounded by a few buffers whatever the file claims. A decompression bomb is
// refused (ByteLimits); checksums are checked, and so is that the stream was complete.
// One thread per source; sources are independent of one another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/status.h"

namespace tutti::collector::importers {

// A stream that grows beyond `max_ratio` times its compressed size after `free_bytes`, or
// beyond `max_bytes`, is refused. Real traces are compressed about 19 to 1.
struct ByteLimits {
  int64_t max_ratio = 200;
  int64_t free_bytes = int64_t{64} << 20;
  int64_t max_bytes = std::numeric_limits<int64_t>::max();
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Puts up to `size` > 0 bytes at `to` and returns how many; 0 is the end. Not ok: no more
  // can be read (cut off, damaged, refused, I/O); what was returned before is sound as far
  // as a checksum at the end could not say otherwise. Not to be called after that.
  virtual Result<size_t> Read(char* to, size_t size) = 0;

  // True after Read failed because the stream looked like a bomb: nothing of it should be
  // used then. Other failures leave a usable beginning.
  virtual bool refused() const { return false; }

 protected:
  ByteSource() = default;
};

enum class Packing { kPlain, kGzip, kZstd, kZip };

// From the first bytes of a file, at least 4 where there are as many.
Packing PackingOf(const char* head, size_t size);

// Opens a file that is not a zip archive; kNotFound, kIo; kUsage for an archive.
Result<std::unique_ptr<ByteSource>> OpenBytes(const std::string& path,
                                              const ByteLimits& limits = {});

// A file in a zip archive.
struct ZipMember {
  std::string name;  // as the archive spells it: no path of this machine, never to be opened
  int64_t compressed_bytes = 0;
  int64_t bytes = 0;          // as the archive claims
  int64_t header_offset = 0;  // of its local header
  uint32_t crc32 = 0;
  int method = 0;  // 0 stored, 8 deflated, 93 zstd
  bool is_encrypted = false;
  bool is_checkable = true;  // `bytes` and `crc32` are known
};

struct ZipArchive {
  std::vector<ZipMember> members = {};
  bool is_cut_off = false;  // has no directory: these are the members that were found without
};

// The files (no folders) in an archive, in the order of its directory, or, where it was cut off,
// of their headers. At most `kMaxZipMembers`; kBadData if none can be listed.
inline constexpr size_t kMaxZipMembers = 100'000;
Result<ZipArchive> ListZip(const std::string& path);
Result<std::unique_ptr<ByteSource>> OpenZipMember(const std::string& path, const ZipMember& member,
                                                  const ByteLimits& limits = {});

// Up to `size` bytes from the start of the contents (of the first member of an archive);
// fewer where the file ends or can't be read further.
Result<std::string> ReadHead(const std::string& path, size_t size);

}  // namespace tutti::collector::importers
