#include "analyzer/metrics/glob.h"

namespace tutti::analyzer {

bool MatchesGlob(std::string_view pattern, std::string_view text) {
  size_t t = 0;
  size_t p = 0;
  size_t star = std::string_view::npos;  // last '*' in the pattern
  size_t resume = 0;                     // where the text goes on if it takes one more
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace tutti::analyzer
