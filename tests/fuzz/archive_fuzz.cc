// libFuzzer on the unpacking of files: any bytes are a plain, gzip or zstd file or a zip archive,
// and reading all of it ends, within the limits that were set.
// Seeds: small archives of every kind, whole, cut off, and as they are written to a pipe.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "collector/importers/byte_source.h"

namespace {

namespace importers = tutti::collector::importers;

constexpr importers::ByteLimits kLimits = {
    .max_ratio = 50, .free_bytes = 1 << 20, .max_bytes = 8 << 20};

void ReadAll(importers::ByteSource& source) {
  std::string buffer(4096, '\0');
  int64_t bytes = 0;
  while (true) {
    const auto got = source.Read(buffer.data(), buffer.size());
    if (!got.ok() || *got == 0) return;
    if (*got > buffer.size()) std::abort();
    bytes += static_cast<int64_t>(*got);
    if (bytes > kLimits.max_bytes) std::abort();
  }
}

void ReadArchive(const std::string& path) {
  const auto archive = importers::ListZip(path);
  if (!archive.ok()) return;
  if (archive->members.size() > importers::kMaxZipMembers) std::abort();
  constexpr size_t kMostRead = 8;
  for (size_t i = 0; i < archive->members.size() && i < kMostRead; ++i) {
    const auto source = importers::OpenZipMember(path, archive->members[i], kLimits);
    if (source.ok()) ReadAll(**source);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int file = ::memfd_create("fuzz", MFD_CLOEXEC);
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  const auto packing = importers::PackingOf(reinterpret_cast<const char*>(data), size);
  if (packing == importers::Packing::kZip) {
    ReadArchive(path);
  } else if (const auto source = importers::OpenBytes(path, kLimits); source.ok()) {
    ReadAll(**source);
  }
  (void)importers::ReadHead(path, 1000).ok();
  ::close(file);
  return 0;
}
