// Whether runs may be compared at all: a step on another GPU, of another size or of another
// program says nothing about a change.
// Pure functions; callable from any thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/compare/launch.h"

namespace tutti::analyzer::compare {

struct Comparability {
  // What forbids it, one line each: "world size: base 2 (runs/a), new 4 (runs/b)".
  std::vector<std::string> obstacles;
  // What a reader should know: another host, facts known of one side only.
  std::vector<std::string> notes;
};

// Differences between any two launches, in either arm.
Comparability CheckComparability(std::span<const Launch> base, std::span<const Launch> fresh);

// The names of two launches that hold the very same steps (five or more): then one recording
// was given twice. Empty if there are none.
std::vector<std::string> FindTwins(std::span<const Launch> launches);

}  // namespace tutti::analyzer::compare
