// Names that a ring's threads interned before, found by where they stand or by their bytes. The
// bytes are compared at each use: callers may free a name and reuse its storage.
//
// Used by the ring's owner only. Finding costs a few nanoseconds and calls nothing.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tutti::tracer {

struct CachedString {
  const char* address;  // nullptr: found by its bytes
  const char* stored;   // in the segment's arena
  uint64_t first;       // the first and the last eight bytes: of most names, which are short,
  uint64_t last;        // that is all
  uint32_t length;
  uint32_t index;
};

class StringCache {
 public:
  // The string with the bytes of |text| that was remembered for its address, nullptr if there is
  // none.
  [[gnu::always_inline]] const CachedString* FindAt(std::string_view text) const noexcept {
    const CachedString& cached = entries_[SlotOf(text.data())];
    return cached.address == text.data() && IsSame(cached, text) ? &cached : nullptr;
  }

  // The same wherever the bytes stand; they must be kMinTextBytes to kMaxTextBytes.
  [[gnu::always_inline]] const CachedString* FindText(std::string_view text) const noexcept {
    const CachedString& cached = entries_[SlotOf(text)];
    return IsSame(cached, text) ? &cached : nullptr;
  }
  static bool TakesText(std::string_view text) noexcept {
    return text.size() >= kMinTextBytes && text.size() <= kMaxTextBytes;
  }

  // Has FindAt give |index|, or FindText if |address| is nullptr. |stored| are the same bytes, and
  // stay where they are.
  void Remember(const char* address, std::string_view text, const char* stored,
                uint32_t index) noexcept {
    CachedString& cached = entries_[address == nullptr ? SlotOf(text) : SlotOf(address)];
    cached = {address, stored, FirstOf(text), LastOf(text), static_cast<uint32_t>(text.size()),
              index};
  }

 private:
  static constexpr size_t kWordBytes = sizeof(uint64_t);
  static constexpr size_t kMinTextBytes = kWordBytes;
  static constexpr size_t kMaxTextBytes = 64;
  static constexpr uint32_t kEntryBits = 9;

  static uint64_t WordAt(const char* bytes) noexcept {
    uint64_t word;
    std::memcpy(&word, bytes, sizeof(word));
    return word;
  }
  // Of a text shorter than a word. By hand: a memcpy of unknown length is a call.
  static uint64_t AllOf(std::string_view text) noexcept {
    uint64_t word = 0;
    for (const char byte : text) word = word << 8 | static_cast<unsigned char>(byte);
    return word;
  }
  static uint64_t FirstOf(std::string_view text) noexcept {
    return text.size() >= kWordBytes ? WordAt(text.data()) : AllOf(text);
  }
  static uint64_t LastOf(std::string_view text) noexcept {
    return text.size() >= kWordBytes ? WordAt(text.data() + text.size() - kWordBytes) : 0;
  }

  [[gnu::always_inline]] static bool IsSame(const CachedString& cached,
                                            std::string_view text) noexcept {
    if (cached.length != text.size()) [[unlikely]]
      return false;
    if (text.size() < kWordBytes) [[unlikely]] {
      return cached.first == AllOf(text) && !text.empty();
    }
    uint64_t differences = (FirstOf(text) ^ cached.first) | (LastOf(text) ^ cached.last);
    if (text.size() > 2 * kWordBytes) [[unlikely]] {
      for (size_t offset = kWordBytes; offset + kWordBytes < text.size(); offset += kWordBytes) {
        differences |= WordAt(text.data() + offset) ^ WordAt(cached.stored + offset);
      }
    }
    return differences == 0;
  }

  static uint32_t SlotOf(const char* address) noexcept {
    const auto bits = reinterpret_cast<uintptr_t>(address);
    return static_cast<uint32_t>((bits ^ bits >> kEntryBits) & ((1u << kEntryBits) - 1));
  }
  static uint32_t SlotOf(std::string_view text) noexcept {
    const size_t last = text.size() - kWordBytes;
    const uint64_t mixed = (WordAt(text.data()) ^ WordAt(text.data() + last) << 1 ^
                            WordAt(text.data() + last / 2) << 2 ^ text.size()) *
                           0x9e3779b97f4a7c15;
    return static_cast<uint32_t>(mixed >> (64 - kEntryBits));
  }

  CachedString entries_[1u << kEntryBits];
};

}  // namespace tutti::tracer
