// Small readings of JSON text that need no parser: lenient, because they run on what a
// parser has refused as well as on what it has passed.
// Pure functions; callable from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::collector::importers::kineto {

constexpr bool IsJsonSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Position of the first character at or after `at` that is no white space; the size if none.
size_t SkipSpace(std::string_view text, size_t at);

// What a string token says: without quotes, escapes decoded; what is no valid escape stays
// as it is, half of a surrogate pair becomes U+FFFD. Other tokens are given back unchanged.
std::string DecodeString(std::string_view token);

// True if a string token has no escapes, so that its text is what stands between the quotes.
bool IsPlainString(std::string_view token);

// Without the quotes of a string token; other tokens unchanged.
std::string_view WithoutQuotes(std::string_view token);

// Finds where a JSON value ends, fed in pieces. Knows strings, escapes and brackets only.
class ValueScanner {
 public:
  // How many characters of `text` belong to the value; done() tells if it ends there.
  size_t Feed(std::string_view text);
  bool done() const { return done_; }
  bool in_string() const { return in_string_; }

 private:
  int64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;
  bool is_scalar_ = false;
  bool done_ = false;
};

// Length of the object at the front of `text` ('{' first) up to its closing brace;
// std::string_view::npos if it doesn't end there.
size_t ObjectLength(std::string_view text);

// What Repair changed in a text.
struct Repairs {
  int control_strings = 0;  // strings with raw control bytes
  int utf8_strings = 0;     // strings that are not UTF-8
};

// A copy of JSON text that a strict parser takes: raw control bytes in strings are escaped
// and bytes that are not UTF-8 become U+FFFD.
std::string Repair(std::string_view text, Repairs& repairs);

}  // namespace tutti::collector::importers::kineto
