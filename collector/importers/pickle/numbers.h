// Numbers and texts in the notations of pickle's text protocol, and its long integers.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::collector::importers::pickle {

// A whole number of any size.
struct WholeNumber {
  std::optional<int64_t> small;  // where it fits
  std::string text;              // where it doesn't: decimal up to 1024 bits, else "-0x…"
};

// Two's complement, least significant byte first; no bytes are 0. O(bytes).
WholeNumber FromTwosComplement(std::string_view bytes);

// "123", "-5L". Nothing if it isn't one.
std::optional<WholeNumber> ParseWholeNumber(std::string_view text);

// As Python's repr() writes a float: "1.5", "1e+16", "inf", "-nan".
std::optional<double> ParseReal(std::string_view text);

// A quoted Python 2 literal with backslash escapes: 'a\n\x00'. Nothing if not quoted.
std::optional<std::string> ParseQuoted(std::string_view literal);

// Latin-1 with \uXXXX and \UXXXXXXXX escapes (raw-unicode-escape) to UTF-8. Surrogates
// become the three bytes that Python's "surrogatepass" writes. Nothing for a cut escape.
std::optional<std::string> DecodeRawUnicodeEscape(std::string_view text);

// Latin-1 bytes that were written as UTF-8 text, as bytes again (_codecs.encode).
// Characters above U+00FF: nothing.
std::optional<std::string> EncodeLatin1(std::string_view utf8);

}  // namespace tutti::collector::importers::pickle
