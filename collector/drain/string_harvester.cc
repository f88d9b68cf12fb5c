#include "collector/drain/string_harvester.h"

#include <algorithm>

#include "collector/spool/format.h"

namespace tutti::collector::drain {
namespace {

// What is checked must be what is used: the process may change it in between.
uint32_t ReadOnce(const uint32_t& shared) {
  return *static_cast<const volatile uint32_t*>(&shared);
}

}  // namespace

std::string StringHarvester::Take() {
  std::string payload;
  pending_.clear();
  const uint32_t capacity = segment_.plan().shape.string_capacity;
  const uint32_t used = segment_.header().strings_used.load(std::memory_order_relaxed);
  const uint32_t last = std::min(used, capacity - 1);
  // Entries may be published out of order: look again at those that were not there.
  for (uint32_t index = first_missing_; index <= last; ++index) {
    if (taken_[index]) continue;
    if (segment_.string_entry(index).hash.load(std::memory_order_acquire) == 0) continue;
    Copy(index, payload);
    pending_.push_back(index);
  }
  return payload;
}

void StringHarvester::Copy(uint32_t index, std::string& payload) {
  const wire::StringEntry& entry = segment_.string_entry(index);
  const uint32_t offset = ReadOnce(entry.offset);
  uint32_t length = std::min(ReadOnce(entry.length), wire::kMaxStringBytes);
  const auto arena = segment_.string_arena();
  if (offset > arena.size() || length > arena.size() - offset) length = 0;
  const spool::StringEntryHeader header{index, length};
  payload.append(reinterpret_cast<const char*>(&header), sizeof(header));
  if (length > 0) payload.append(reinterpret_cast<const char*>(arena.data() + offset), length);
}

void StringHarvester::Keep() {
  for (const uint32_t index : pending_) taken_[index] = true;
  pending_.clear();
  while (first_missing_ < taken_.size() && taken_[first_missing_]) ++first_missing_;
}

}  // namespace tutti::collector::drain
