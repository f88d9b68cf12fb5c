// Patterns of names: * for any text, ? for one character.
// Pure functions; callable from any thread.
#pragma once

#include <string_view>

namespace tutti::analyzer {

// Of the whole text, by bytes. O(text * pattern) at worst.
bool MatchesGlob(std::string_view pattern, std::string_view text);

}  // namespace tutti::analyzer
