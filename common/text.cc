#include "common/text.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tutti {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// Length of the well-formed sequence of several bytes at the start of `text`, else 0.
// Second-byte limits: The Unicode Standard, table 3-7.
size_t SequenceLength(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  if (length == 0 || text.size() < length) return 0;
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

bool IsPlain(char c) { return c != '\0' && static_cast<unsigned char>(c) < 0x80; }

// Of 8 bytes at once: all ASCII and none NUL.
bool IsPlainWord(const char* bytes) {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  constexpr uint64_t kHigh = 0x8080808080808080;
  constexpr uint64_t kOnes = 0x0101010101010101;
  return (((word - kOnes) | word) & kHigh) == 0;
}

// C1 controls are U+0080 to U+009F: C2 80 to C2 9F.
bool IsC1(std::string_view sequence) {
  return sequence.size() == 2 && sequence[0] == '\xC2' &&
         static_cast<unsigned char>(sequence[1]) < 0xA0;
}

bool IsC0(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '\x7F'; }

// What sets the direction of the text behind it (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066
// to U+2069), or ends a line (U+2028, U+2029): a name with one reorders what stands beside it.
bool MovesText(std::string_view sequence) {
  if (sequence == "\xD8\x9C") return true;
  if (!sequence.starts_with("\xE2\x80") && !sequence.starts_with("\xE2\x81")) return false;
  const auto last = static_cast<unsigned char>(sequence[2]);
  if (sequence[1] == '\x81') return last >= 0xA6 && last <= 0xA9;
  return last == 0x8E || last == 0x8F || (last >= 0xA8 && last <= 0xAE);
}

bool IsBlank(char c) { return c == '\t' || c == '\n' || c == '\r'; }

}  // namespace

bool IsStorableText(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    if (text.size() - i >= 8 && IsPlainWord(text.data() + i)) {
      i += 8;
    } else if (IsPlain(text[i])) {
      ++i;
    } else {
      const size_t length = SequenceLength(text.substr(i));
      if (length == 0) return false;
      i += length;
    }
  }
  return true;
}

std::string ToStorableText(std::string_view text) {
  std::string result;
  result.reserve(text.size() + 8);
  size_t i = 0;
  while (i < text.size()) {
    const size_t length = IsPlain(text[i]) ? 1 : SequenceLength(text.substr(i));
    result += length == 0 ? kReplacement : text.substr(i, length);
    i += length == 0 ? 1 : length;
  }
  return result;
}

std::string ToPrintableText(std::string_view text) {
  std::string result;
  result.reserve(text.size() + 8);
  size_t i = 0;
  while (i < text.size()) {
    const size_t length = IsPlain(text[i]) ? 1 : SequenceLength(text.substr(i));
    const std::string_view piece = text.substr(i, length == 0 ? 1 : length);
    if (IsBlank(piece[0])) {
      result += ' ';
    } else if (length == 0 || IsC0(piece[0]) || IsC1(piece) || MovesText(piece)) {
      result += kReplacement;
    } else {
      result += piece;
    }
    i += piece.size();
  }
  return result;
}

}  // namespace tutti
