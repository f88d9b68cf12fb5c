// Writes CUPTI's buffers to a file, for tests that replay them (common/wire/activity_dump.h). Off
// unless TUTTI_CUPTI_DUMP names a file; a process writes NAME.PID. On the tracer's own thread. At
// most kMaxBytes; a file that can't be written or is full ends it, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/wire/activity_dump.h"

namespace tutti::tracer::cupti {

class Dump {
 public:
  static constexpr uint64_t kMaxBytes = uint64_t{64} << 20;

  // False, and nothing is written from then on, if none is asked for or it can't be made.
  bool Open(uint32_t cupti_version) noexcept;
  bool is_open() const noexcept { return file_ >= 0; }

  // A text that records will name by |number|.
  void Text(uint32_t number, const char* text) noexcept;
  void CallName(int domain, uint32_t callback_id, const char* name) noexcept;

  // Replaces the pointers of a record; |text| is the number of the one that it points to.
  static void ReplacePointers(uint8_t* record, size_t bytes, uint32_t text) noexcept;

  // A buffer whose records' pointers are replaced.
  void Buffer(const uint8_t* data, size_t valid_bytes) noexcept;

 private:
  void Write(wire::ActivityDumpKind kind, uint64_t key, const void* data, size_t bytes) noexcept;
  void Close() noexcept;

  static constexpr uint32_t kTexts = 1u << 16;

  int file_ = -1;
  uint64_t written_ = 0;
  uint64_t buffers_ = 0;
  uint8_t told_[kTexts / 8] = {};  // by number; higher ones are told each time
};

}  // namespace tutti::tracer::cupti
