#include "collector/importers/pickle/numbers.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <vector>

namespace tutti::collector::importers::pickle {
namespace {

// Longer numbers aren't turned into decimals, which takes time in the square of the length.
constexpr size_t kMostDecimalBytes = 128;

uint8_t ByteOf(char c) { return static_cast<uint8_t>(c); }

// Little-endian two's complement without its sign, which is returned.
bool TakeSign(std::vector<uint8_t>& bytes) {
  if (bytes.empty() || (bytes.back() & 0x80) == 0) return false;
  unsigned carry = 1;
  for (uint8_t& byte : bytes) {
    carry += static_cast<uint8_t>(~byte);
    byte = static_cast<uint8_t>(carry & 0xff);
    carry >>= 8;
  }
  return true;
}

std::string Decimal(std::vector<uint8_t> magnitude) {
  std::string digits;
  while (!magnitude.empty()) {
    unsigned remainder = 0;
    for (size_t i = magnitude.size(); i > 0; --i) {
      const unsigned value = remainder << 8 | magnitude[i - 1];
      magnitude[i - 1] = static_cast<uint8_t>(value / 10);
      remainder = value % 10;
    }
    digits.push_back(static_cast<char>('0' + remainder));
    while (!magnitude.empty() && magnitude.back() == 0) magnitude.pop_back();
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

std::string Hexadecimal(const std::vector<uint8_t>& magnitude) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text = "0x";
  for (size_t i = magnitude.size(); i > 0; --i) {
    text.push_back(kDigits[magnitude[i - 1] >> 4]);
    text.push_back(kDigits[magnitude[i - 1] & 15]);
  }
  return text;
}

void AppendUtf8(std::string& out, uint32_t code) {
  const auto add = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xc0 | code >> 6);
    return add(0x80 | (code & 0x3f));
  }
  if (code < 0x10000) {
    add(0xe0 | code >> 12);
  } else {
    add(0xf0 | code >> 18);
    add(0x80 | (code >> 12 & 0x3f));
  }
  add(0x80 | (code >> 6 & 0x3f));
  add(0x80 | (code & 0x3f));
}

std::optional<uint32_t> ParseHex(std::string_view digits) {
  uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// An escape that begins at text[at] == '\\'; moves `at` behind it.
bool AppendEscape(std::string_view text, size_t& at, std::string& out) {
  if (at + 1 >= text.size()) return false;
  const char kind = text[at + 1];
  constexpr std::string_view kNames = "abfnrtv\\'\"";
  constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\'\"";
  if (const size_t found = kNames.find(kind); found != std::string_view::npos) {
    out.push_back(kMeanings[found]);
    at += 2;
    return true;
  }
  if (kind == 'x') {
    if (at + 4 > text.size()) return false;
    const std::optional<uint32_t> code = ParseHex(text.substr(at + 2, 2));
    if (!code) return false;
    out.push_back(static_cast<char>(*code));
    at += 4;
    return true;
  }
  if (kind >= '0' && kind <= '7') {
    unsigned code = 0;
    size_t end = at + 1;
    while (end < text.size() && end < at + 4 && text[end] >= '0' && text[end] <= '7') {
      code = code * 8 + static_cast<unsigned>(text[end++] - '0');
    }
    out.push_back(static_cast<char>(code & 0xff));
    at = end;
    return true;
  }
  out.push_back('\\');  // Python keeps what is no escape
  ++at;
  return true;
}

}  // namespace

WholeNumber FromTwosComplement(std::string_view bytes) {
  while (bytes.size() > 8) {  // bytes that only repeat the sign
    const bool is_negative = (ByteOf(bytes[bytes.size() - 2]) & 0x80) != 0;
    if (ByteOf(bytes.back()) != (is_negative ? 0xff : 0x00)) break;
    bytes.remove_suffix(1);
  }
  if (bytes.size() <= 8) {
    uint64_t bits = !bytes.empty() && (ByteOf(bytes.back()) & 0x80) != 0 ? ~uint64_t{0} : 0;
    for (size_t i = bytes.size(); i > 0; --i) bits = bits << 8 | ByteOf(bytes[i - 1]);
    return {std::bit_cast<int64_t>(bits), {}};
  }
  std::vector<uint8_t> magnitude(bytes.begin(), bytes.end());
  const bool is_negative = TakeSign(magnitude);
  while (!magnitude.empty() && magnitude.back() == 0) magnitude.pop_back();
  std::string text = magnitude.size() <= kMostDecimalBytes ? Decimal(std::move(magnitude))
                                                           : Hexadecimal(magnitude);
  return {std::nullopt, is_negative ? "-" + text : text};
}

std::optional<WholeNumber> ParseWholeNumber(std::string_view text) {
  if (!text.empty() && text.back() == 'L') text.remove_suffix(1);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  std::string_view digits = text;
  if (!digits.empty() && digits.front() == '-') digits.remove_prefix(1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc()) return WholeNumber{value, {}};
  return WholeNumber{std::nullopt, std::string(text)};
}

std::optional<double> ParseReal(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    if (text.find("e-") != std::string_view::npos) return 0;
    return text.front() == '-' ? -std::numeric_limits<double>::infinity()
                               : std::numeric_limits<double>::infinity();
  }
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::string> ParseQuoted(std::string_view literal) {
  if (literal.size() < 2 || literal.front() != literal.back() ||
      (literal.front() != '\'' && literal.front() != '"')) {
    return std::nullopt;
  }
  const std::string_view text = literal.substr(1, literal.size() - 2);
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      out.push_back(text[at++]);
    } else if (!AppendEscape(text, at, out)) {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<std::string> DecodeRawUnicodeEscape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const bool is_escape =
        text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == 'u' || text[at + 1] == 'U');
    if (!is_escape) {
      AppendUtf8(out, ByteOf(text[at++]));
      continue;
    }
    const size_t length = text[at + 1] == 'u' ? 4 : 8;
    if (at + 2 + length > text.size()) return std::nullopt;
    const std::optional<uint32_t> code = ParseHex(text.substr(at + 2, length));
    if (!code || *code > 0x10ffff) return std::nullopt;
    AppendUtf8(out, *code);
    at += 2 + length;
  }
  return out;
}

std::optional<std::string> EncodeLatin1(std::string_view utf8) {
  std::string out;
  out.reserve(utf8.size());
  for (size_t at = 0; at < utf8.size(); ++at) {
    const uint8_t byte = ByteOf(utf8[at]);
    if (byte < 0x80) {
      out.push_back(utf8[at]);
      continue;
    }
    if ((byte != 0xc2 && byte != 0xc3) || at + 1 >= utf8.size()) return std::nullopt;
    out.push_back(static_cast<char>((byte & 0x03) << 6 | (ByteOf(utf8[++at]) & 0x3f)));
  }
  return out;
}

}  // namespace tutti::collector::importers::pickle
