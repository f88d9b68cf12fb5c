#include "collector/importers/kineto/json_text.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/text.h"

namespace tutti::collector::importers::kineto {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

void AppendUtf8(uint32_t point, std::string& out) {
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xc0 | (point >> 6));
    out += static_cast<char>(0x80 | (point & 0x3f));
  } else if (point < 0x10000) {
    out += static_cast<char>(0xe0 | (point >> 12));
    out += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (point & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (point >> 18));
    out += static_cast<char>(0x80 | ((point >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((point >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (point & 0x3f));
  }
}

// The four hexadecimal digits of "\uXXXX" at `at`.
std::optional<uint32_t> UnitAt(std::string_view text, size_t at) {
  if (text.size() < at + 6 || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  uint32_t unit = 0;
  const char* const digits = text.data() + at + 2;
  const auto [end, error] = std::from_chars(digits, digits + 4, unit, 16);
  if (error != std::errc() || end != digits + 4) return std::nullopt;
  return unit;
}

// Decodes "\u…" at `at`, with the second half of a pair; returns the characters used.
size_t AppendUnicodeEscape(std::string_view text, size_t at, std::string& out) {
  const std::optional<uint32_t> unit = UnitAt(text, at);
  if (!unit) {
    out += text[at];
    return 1;
  }
  if (*unit < 0xd800 || *unit > 0xdfff) {
    AppendUtf8(*unit, out);
    return 6;
  }
  const std::optional<uint32_t> low = *unit < 0xdc00 ? UnitAt(text, at + 6) : std::nullopt;
  if (!low || *low < 0xdc00 || *low > 0xdfff) {
    out += kReplacement;
    return 6;
  }
  AppendUtf8(0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00), out);
  return 12;
}

size_t AppendEscape(std::string_view text, size_t at, std::string& out) {
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (at + 1 == text.size()) {
    out += '\\';
    return 1;
  }
  if (text[at + 1] == 'u') return AppendUnicodeEscape(text, at, out);
  const size_t escape = kEscapes.find(text[at + 1]);
  if (escape == std::string_view::npos) {
    out += '\\';
    return 1;
  }
  out += kMeanings[escape];
  return 2;
}

void AppendEscapedControl(char c, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  out += "\\u00";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

// Length of the string at `at` (its opening quote) with both quotes, or up to the end.
size_t StringLength(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size()) - at;
}

}  // namespace

size_t SkipSpace(std::string_view text, size_t at) {
  while (at < text.size() && IsJsonSpace(text[at])) ++at;
  return at;
}

std::string_view WithoutQuotes(std::string_view token) {
  const bool is_string = token.size() >= 2 && token.front() == '"' && token.back() == '"';
  return is_string ? token.substr(1, token.size() - 2) : token;
}

bool IsPlainString(std::string_view token) {
  return token.size() >= 2 && token.front() == '"' && token.find('\\') == std::string_view::npos;
}

std::string DecodeString(std::string_view token) {
  const std::string_view text = WithoutQuotes(token);
  if (text.size() == token.size()) return std::string(token);
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\\') {
      at += AppendEscape(text, at, out);
    } else {
      out += text[at++];
    }
  }
  return out;
}

size_t ValueScanner::Feed(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
        done_ = depth_ == 0;
      }
      if (done_) return at + 1;
      continue;
    }
    const bool closes = c == '}' || c == ']';
    if (is_scalar_ && (closes || c == ',' || IsJsonSpace(c))) {
      done_ = true;
      return at;
    }
    if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if (closes) {
      done_ = --depth_ <= 0;
      if (done_) return depth_ < 0 ? at : at + 1;  // a stray bracket is not ours
    } else {
      is_scalar_ = depth_ == 0 && !IsJsonSpace(c);
    }
  }
  return text.size();
}

size_t ObjectLength(std::string_view text) {
  ValueScanner scanner;
  const size_t length = scanner.Feed(text);
  return scanner.done() ? length : std::string_view::npos;
}

std::string Repair(std::string_view text, Repairs& repairs) {
  std::string out;
  out.reserve(text.size() + 64);
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '"') {
      out += text[at++];
      continue;
    }
    const std::string_view string = text.substr(at, StringLength(text, at));
    at += string.size();
    std::string clean = ToStorableText(string);  // also replaces NUL
    bool has_control = string.find('\0') != std::string_view::npos;
    if (clean != string && !has_control) ++repairs.utf8_strings;
    for (const char c : clean) {
      if (static_cast<unsigned char>(c) >= 0x20) {
        out += c;
        continue;
      }
      has_control = true;
      AppendEscapedControl(c, out);
    }
    if (has_control) ++repairs.control_strings;
  }
  return out;
}

}  // namespace tutti::collector::importers::kineto
