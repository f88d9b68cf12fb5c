// The file that TUTTI_CUPTI_DUMP asks for: CUPTI's buffers as it filled them, for tests that replay
// them without a GPU. A header, then chunks, each with its bytes behind it, in the order in which
// the tracer met them. Pointers in the records mean nothing outside their process: those to text
// are replaced by the number of a text chunk (0: none), which stands before the buffer, all others
// by 0.
#pragma once

#include <cstdint>

namespace tutti::wire {

inline constexpr char kActivityDumpMagic[8] = {'T', 'U', 'T', 'T', 'I', 'G', 'P', 'U'};
inline constexpr uint32_t kActivityDumpFormat = 1;

struct ActivityDumpHeader {
  char magic[8];
  uint32_t format;
  uint32_t cupti_version;  // cuptiGetVersion()
};
static_assert(sizeof(ActivityDumpHeader) == 16);

enum class ActivityDumpKind : uint32_t {
  kBuffer = 1,    // the valid bytes of a buffer; key: its number, from 0
  kText = 2,      // key: its number; some more than once
  kCallName = 3,  // key: domain (1 driver, 2 runtime) << 32 | callback id
};

struct ActivityDumpChunk {
  ActivityDumpKind kind;
  uint32_t bytes;
  uint64_t key;
};
static_assert(sizeof(ActivityDumpChunk) == 16);

}  // namespace tutti::wire
