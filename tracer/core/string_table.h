// The segment's string table as the tracer's threads write it: lock-free, append-only,
// by content. No allocation and no system call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/wire/layout.h"
#include "common/wire/segment.h"

namespace tutti::tracer {

// FNV-1a of |text|, never 0. The hash of StringEntry (common/wire/segment.h).
uint64_t HashText(std::string_view text) noexcept;

// |text| as the table stores it: up to kMaxStringBytes as it is, else cut between two UTF-8
// characters with "…" after it, made in |buffer|.
std::string_view CutText(std::string_view text, char (&buffer)[wire::kMaxStringBytes]) noexcept;

// A view of the table in a mapped and checked segment; trivially copyable, owns nothing.
// All methods may run on any number of threads at once.
class StringTable {
 public:
  // |base| is the mapping that |layout| was read from and checked for (wire::LayoutProblem).
  void Attach(std::byte* base, const wire::SegmentLayout& layout) noexcept;

  // The index of |text|, which is stored if it is new. wire::kNoString for empty text, and
  // when the table is full, which is counted in the segment (strings_refused).
  uint32_t Intern(std::string_view text) noexcept;

  // The stored text of a published |index| returned by Intern.
  std::string_view Text(uint32_t index) const noexcept;

 private:
  uint32_t Append(std::string_view text, uint64_t hash) noexcept;
  uint32_t Refuse() noexcept;
  bool Holds(uint32_t index, std::string_view text, uint64_t hash) const noexcept;

  wire::SegmentHeader* segment_;
  wire::StringEntry* entries_;
  std::atomic<uint32_t>* buckets_;
  char* arena_;
  uint64_t arena_bytes_;
  uint32_t capacity_;
  uint32_t bucket_mask_;
};

}  // namespace tutti::tracer
