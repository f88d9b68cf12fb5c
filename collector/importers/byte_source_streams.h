// The decompressing sources behind byte_source.h, each over another source. They own the
// source below. `name` is how messages call the stream. One thread each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "collector/importers/byte_source.h"

namespace tutti::collector::importers {

// Length of a regular file; kNotFound, kIo.
Result<int64_t> FileBytes(const std::string& path);

// Part of a regular file; `byte_count` < 0: to its end.
Result<std::unique_ptr<ByteSource>> OpenFileRange(const std::string& path, int64_t offset,
                                                  int64_t byte_count);

std::unique_ptr<ByteSource> MakeGzipSource(std::unique_ptr<ByteSource> packed, std::string name,
                                           const ByteLimits& limits);
// Raw deflate data as in a zip archive.
std::unique_ptr<ByteSource> MakeDeflateSource(std::unique_ptr<ByteSource> packed, std::string name,
                                              const ByteLimits& limits);
std::unique_ptr<ByteSource> MakeZstdSource(std::unique_ptr<ByteSource> packed, std::string name,
                                           const ByteLimits& limits);
// What `bytes` holds where that is gzip or zstd again, a few layers deep; else `bytes` as they
// are. `file_bytes` is the size of what the outermost layer was read from. kBadData: an archive.
Result<std::unique_ptr<ByteSource>> UnpackNested(std::unique_ptr<ByteSource> bytes,
                                                 const std::string& name, int64_t file_bytes,
                                                 ByteLimits limits);
// Checks length and CRC-32 of what passes through when it ends.
std::unique_ptr<ByteSource> MakeCheckedSource(std::unique_ptr<ByteSource> bytes, std::string name,
                                              int64_t byte_count, uint32_t crc32);

// Watches how much a stream grows.
class GrowthGuard {
 public:
  GrowthGuard(std::string name, const ByteLimits& limits);

  // Called with totals so far; not ok: refuse the stream.
  Status Check(int64_t packed_bytes, int64_t bytes);
  bool refused() const { return refused_; }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  ByteLimits limits_;
  bool refused_ = false;
};

}  // namespace tutti::collector::importers
