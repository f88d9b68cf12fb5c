// Memory that is given out piece by piece and freed all at once. Nothing in it is ever
// destroyed, so nothing in it may own anything, and freeing never recurses.
// Not thread-safe; may be moved: what was given out stays where it is.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tutti::collector::importers::pickle {

class Arena {
 public:
  Arena() = default;
  Arena(Arena&&) = default;
  Arena& operator=(Arena&&) = default;

  // Uninitialised room for `count` objects; O(1) but for one allocation per 64 KiB and more.
  template <typename T>
  T* Allocate(size_t count) {
    static_assert(std::is_trivially_destructible_v<T> && alignof(T) <= kAlignment);
    return static_cast<T*>(AllocateBytes(count * sizeof(T)));
  }

  std::string_view Copy(std::string_view text) {
    char* const copy = Allocate<char>(text.size());
    if (!text.empty()) std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  // What was taken from the system so far.
  size_t bytes() const { return bytes_; }

 private:
  static constexpr size_t kAlignment = 8;
  static constexpr size_t kSmallestBlock = size_t{64} << 10;
  static constexpr size_t kLargestBlock = size_t{16} << 20;

  void* AllocateBytes(size_t size) {
    size = (size + kAlignment - 1) / kAlignment * kAlignment;
    if (size > left_) AddBlock(size);
    char* const result = next_;
    next_ += size;
    left_ -= size;
    return result;
  }

  void AddBlock(size_t at_least) {
    const size_t size = std::max(at_least, block_size_);
    block_size_ = std::min(kLargestBlock, 2 * block_size_);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    bytes_ += size;
    next_ = blocks_.back().get();
    left_ = size;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_size_ = kSmallestBlock;
  size_t bytes_ = 0;
  char* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace tutti::collector::importers::pickle
