#include "tests/gpu/testing/dump_file.h"

#include <cstring>
#include <fstream>

#include "common/wire/activity_dump.h"

namespace tutti::gpu::testing {
namespace {

template <typename T>
bool Read(std::ifstream& file, T* value) {
  return static_cast<bool>(file.read(reinterpret_cast<char*>(value), sizeof(*value)));
}

bool AddChunk(const wire::ActivityDumpChunk& chunk, std::string bytes, DumpFile* dump) {
  switch (chunk.kind) {
    case wire::ActivityDumpKind::kBuffer: {
      const auto* data = reinterpret_cast<const std::byte*>(bytes.data());
      dump->buffers.emplace_back(data, data + bytes.size());
      return true;
    }
    case wire::ActivityDumpKind::kText:
      dump->texts[chunk.key] = std::move(bytes);
      return true;
    case wire::ActivityDumpKind::kCallName:
      dump->call_names[chunk.key] = std::move(bytes);
      return true;
  }
  return false;
}

}  // namespace

std::optional<DumpFile> ReadDump(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  wire::ActivityDumpHeader header;
  if (!Read(file, &header) || header.format != wire::kActivityDumpFormat ||
      std::memcmp(header.magic, wire::kActivityDumpMagic, sizeof(header.magic)) != 0) {
    return std::nullopt;
  }
  DumpFile dump;
  dump.cupti_version = header.cupti_version;
  wire::ActivityDumpChunk chunk;
  while (Read(file, &chunk)) {
    std::string bytes(chunk.bytes, '\0');
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) ||
        !AddChunk(chunk, std::move(bytes), &dump)) {
      return std::nullopt;
    }
  }
  return dump;
}

}  // namespace tutti::gpu::testing
