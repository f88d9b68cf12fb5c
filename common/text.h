// Text of unknown origin made fit to store and to show.
// Pure functions; callable from any thread.
#pragma once

#include <string>
#include <string_view>

namespace tutti {

// True if `text` is well-formed UTF-8 (no surrogates, nothing overlong) without NUL,
// which SQLite's text functions and C strings stop at.
bool IsStorableText(std::string_view text);

// A copy in which each byte that makes `text` not storable is U+FFFD.
std::string ToStorableText(std::string_view text);

// A copy fit for a terminal or one line of a table: C0 and C1 control characters, which
// could steer the terminal, and those that turn the direction of text are replaced (tab and
// line breaks by a space, others by U+FFFD), invalid bytes as above.
std::string ToPrintableText(std::string_view text);

}  // namespace tutti
