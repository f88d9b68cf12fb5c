#include "collector/convert/utf8.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace tutti::collector::convert {
namespace {

uint8_t ByteAt(std::string_view bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }

// Length of the well-formed sequence that starts at |at|, 0 if there is none
// (Unicode 15.0, table 3-7).
size_t SequenceLength(std::string_view bytes, size_t at) {
  const uint8_t lead = ByteAt(bytes, at);
  if (lead == 0) return 0;
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + length > bytes.size()) return 0;
  uint8_t second_min = 0x80;
  uint8_t second_max = 0xBF;
  if (lead == 0xE0) second_min = 0xA0;
  if (lead == 0xED) second_max = 0x9F;
  if (lead == 0xF0) second_min = 0x90;
  if (lead == 0xF4) second_max = 0x8F;
  if (ByteAt(bytes, at + 1) < second_min || ByteAt(bytes, at + 1) > second_max) return 0;
  for (size_t next = at + 2; next < at + length; ++next) {
    if ((ByteAt(bytes, next) & 0xC0) != 0x80) return 0;
  }
  return length;
}

bool IsPlainAscii(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](char c) { return static_cast<signed char>(c) > 0; });
}

}  // namespace

std::string ToUtf8(std::string_view bytes) {
  if (IsPlainAscii(bytes)) return std::string(bytes);
  std::string text;
  text.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const size_t length = SequenceLength(bytes, at);
    text += length == 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(at, length);
    at += std::max<size_t>(length, 1);
  }
  return text;
}

}  // namespace tutti::collector::convert
