// How figures of comparisons look to people.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/compare/metric.h"

namespace tutti::analyzer::compare {

std::string Duration(double ns);             // "100.2 ms", "3.41 s", "12.0 us"
std::string SignedDuration(double ns);       // "+8.11 ms"
std::string Percent(double share);           // "1.62 %"
std::string SignedPercent(double share);     // "+8.10 %"
std::string PValue(double p);                // "0.0021", "<0.0001"
std::string Value(Unit unit, double value);  // as the unit wants it
std::string Plain(double number);            // "12", "0.01"

// Columns, two spaces apart, the first `left` of them to the left; lines begin with two spaces.
std::string Columns(const std::vector<std::vector<std::string>>& rows, size_t left);

}  // namespace tutti::analyzer::compare
