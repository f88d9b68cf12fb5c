#include "tracer/core/string_table.h"

#include <cstring>

namespace tutti::tracer {

uint64_t HashText(std::string_view text) noexcept {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash != 0 ? hash : 1;
}

std::string_view CutText(std::string_view text, char (&buffer)[wire::kMaxStringBytes]) noexcept {
  if (text.size() <= wire::kMaxStringBytes) return text;
  constexpr std::string_view kMark = "…";
  size_t kept = wire::kMaxStringBytes - kMark.size();
  const auto continues = [&](size_t i) {
    return (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
  };
  // A character of valid UTF-8 has at most three continuation bytes; others are cut anywhere.
  for (int steps = 0; steps < 3 && continues(kept); ++steps) --kept;
  std::memcpy(buffer, text.data(), kept);
  std::memcpy(buffer + kept, kMark.data(), kMark.size());
  return {buffer, kept + kMark.size()};
}

void StringTable::Attach(std::byte* base, const wire::SegmentLayout& layout) noexcept {
  segment_ = reinterpret_cast<wire::SegmentHeader*>(base);
  entries_ = reinterpret_cast<wire::StringEntry*>(base + layout.string_entries_offset);
  buckets_ = reinterpret_cast<std::atomic<uint32_t>*>(base + layout.string_buckets_offset);
  arena_ = reinterpret_cast<char*>(base + layout.string_arena_offset);
  arena_bytes_ = layout.string_arena_bytes;
  capacity_ = layout.string_capacity;
  bucket_mask_ = layout.string_bucket_count - 1;
}

bool StringTable::Holds(uint32_t index, std::string_view text, uint64_t hash) const noexcept {
  if (index >= capacity_) return false;  // not ours: somebody scribbled over the table
  const wire::StringEntry& entry = entries_[index];
  return entry.hash.load(std::memory_order_acquire) == hash && Text(index) == text;
}

std::string_view StringTable::Text(uint32_t index) const noexcept {
  const uint32_t offset = entries_[index].offset;
  const uint32_t length = entries_[index].length;
  if (offset > arena_bytes_ || length > arena_bytes_ - offset) return {};
  return {arena_ + offset, length};
}

uint32_t StringTable::Intern(std::string_view text) noexcept {
  if (text.empty()) return wire::kNoString;
  char buffer[wire::kMaxStringBytes];
  text = CutText(text, buffer);
  const uint64_t hash = HashText(text);
  uint32_t added = wire::kNoString;
  // At least half of the buckets stay empty; the bound is for a segment scribbled over.
  for (uint32_t step = 0; step <= bucket_mask_; ++step) {
    std::atomic<uint32_t>& bucket = buckets_[(hash + step) & bucket_mask_];
    uint32_t index = bucket.load(std::memory_order_acquire);
    if (index == wire::kNoString) {
      if (added == wire::kNoString) added = Append(text, hash);
      if (added == wire::kNoString) return Refuse();
      if (bucket.compare_exchange_strong(index, added, std::memory_order_acq_rel)) return added;
    }
    // A racing thread's copy wins; one of ours that was already published stays unused.
    if (Holds(index, text, hash)) return index;
  }
  return Refuse();
}

uint32_t StringTable::Append(std::string_view text, uint64_t hash) noexcept {
  // Looked at first: counters of a full table must not run on until they wrap.
  if (segment_->strings_used.load(std::memory_order_relaxed) + 1 >= capacity_) return 0;
  if (segment_->string_arena_used.load(std::memory_order_relaxed) >= arena_bytes_) return 0;
  const uint32_t index = segment_->strings_used.fetch_add(1, std::memory_order_relaxed) + 1;
  const uint64_t offset =
      segment_->string_arena_used.fetch_add(text.size(), std::memory_order_relaxed);
  if (index >= capacity_ || offset > arena_bytes_ || text.size() > arena_bytes_ - offset) return 0;
  wire::StringEntry& entry = entries_[index];
  std::memcpy(arena_ + offset, text.data(), text.size());
  entry.offset = static_cast<uint32_t>(offset);
  entry.length = static_cast<uint32_t>(text.size());
  entry.hash.store(hash, std::memory_order_release);
  return index;
}

uint32_t StringTable::Refuse() noexcept {
  segment_->strings_refused.fetch_add(1, std::memory_order_relaxed);
  return wire::kNoString;
}

}  // namespace tutti::tracer
