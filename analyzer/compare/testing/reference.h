// What SciPy, NumPy and statsmodels make of the numbers in reference.json, which reference.py
// wrote. For tests only.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace tutti::analyzer::compare::testing {

// The cases of one statistic. Requires TUTTI_SOURCE_DIR.
inline nlohmann::json ReferenceCases(const std::string& statistic) {
  std::ifstream file(TUTTI_SOURCE_DIR "/analyzer/compare/testing/reference.json");
  nlohmann::json cases = nlohmann::json::parse(file).at(statistic);
  if (cases.empty()) throw std::runtime_error("no cases of " + statistic);
  return cases;
}

}  // namespace tutti::analyzer::compare::testing
