// What changed: the parts of the mean step of both sides, and their differences, which add up
// to the difference of the steps to the nanosecond.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyzer/compare/launch.h"

namespace tutti::analyzer::compare {

struct PartChange {
  std::string_view part;  // of kParts
  int64_t base_ns = 0;    // mean over launches, steps and ranks
  int64_t new_ns = 0;     // the same
  int64_t change_ns() const { return new_ns - base_ns; }
};

// The parts' base_ns add up to base_ns, their new_ns to new_ns: exactly, for shares of
// nanoseconds are given to the parts with the largest remainders.
struct Explanation {
  int64_t base_ns = 0;            // mean step period, with every stall: not the trimmed level
  int64_t new_ns = 0;             // the same
  std::vector<PartChange> parts;  // in order of precedence; those that are 0 on both sides left out
  int64_t change_ns() const { return new_ns - base_ns; }
};

// Nothing if a launch has no step with both a period and a breakdown.
std::optional<Explanation> Explain(std::span<const Launch> base, std::span<const Launch> fresh,
                                   size_t warmup);

// "compute +8.2 ms, input wait +1.1 ms, idle -1.2 ms": the largest parts that together make
// most of the difference; "" if there is none to speak of.
std::string ExplainInWords(const Explanation& explanation);

// "exposed_comm_wait" -> "exposed comm wait".
std::string PartInWords(std::string_view part);

}  // namespace tutti::analyzer::compare
