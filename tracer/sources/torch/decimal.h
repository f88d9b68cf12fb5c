// Numbers as text. Not std::to_chars: it brings a table into the library that the linker
// exports as a process-wide unique symbol, and this library exports its ABI and nothing else.
#pragma once

#include <cstdint>

namespace tutti::tracer::torch {

inline constexpr int kMaxDecimalDigits = 20;  // sign included

// Writes |number| at |at|, which must have room for kMaxDecimalDigits, without a terminator.
// Returns the place behind it.
inline char* WriteDecimal(char* at, int64_t number) noexcept {
  char digits[kMaxDecimalDigits];
  int count = 0;
  const bool is_negative = number < 0;
  uint64_t rest = is_negative ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  do {
    digits[count++] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest != 0);
  if (is_negative) {
    *at++ = '-';
  }
  while (count > 0) {
    *at++ = digits[--count];
  }
  return at;
}

}  // namespace tutti::tracer::torch
