// Reads what TUTTI_CUPTI_DUMP had written (common/wire/activity_dump.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::gpu::testing {

struct DumpFile {
  uint32_t cupti_version = 0;
  std::vector<std::vector<std::byte>> buffers;
  std::map<uint64_t, std::string> texts;
  std::map<uint64_t, std::string> call_names;  // by domain << 32 | callback id
};

// Absent if |path| is no whole dump.
std::optional<DumpFile> ReadDump(const std::string& path);

}  // namespace tutti::gpu::testing
