// Whether the ranks of a run had the same versions.
#include <algorithm>
#include <map>
#include <string>

#include "collector/doctor/checks.h"
#include "schema/run_view.h"

namespace tutti::collector::doctor {
namespace {

// Value -> "0, 1, 2, 3 and 60 more"; up to four ranks are named.
std::string RanksByValue(const std::map<std::string, std::vector<int64_t>>& ranks) {
  constexpr size_t kMostNamed = 4;
  std::string text;
  for (const auto& [value, numbers] : ranks) {
    text += (text.empty() ? "" : "; ") + value + ": rank";
    for (size_t i = 0; i < std::min(numbers.size(), kMostNamed); ++i) {
      text += (i == 0 ? " " : ", ") + std::to_string(numbers[i]);
    }
    if (numbers.size() > kMostNamed) {
      text += " and " + std::to_string(numbers.size() - kMostNamed) + " more";
    }
  }
  return text;
}

Result<Checkup> CheckOne(schema::Database& run, const std::string& name, const std::string& sql,
                         const std::string& advice) {
  TUTTI_ASSIGN_OR_RETURN(schema::Statement rows, run.Prepare(sql));
  std::map<std::string, std::vector<int64_t>> ranks;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) break;
    TUTTI_ASSIGN_OR_RETURN(const auto rank, rows.Get<std::optional<int64_t>>(0));
    TUTTI_ASSIGN_OR_RETURN(const auto value, rows.Get<std::optional<std::string>>(1));
    if (value && !value->empty()) ranks[*value].push_back(rank.value_or(-1));
  }
  if (ranks.empty()) return Checkup{name, Health::kGood, "not recorded", ""};
  if (ranks.size() == 1) return Checkup{name, Health::kGood, ranks.begin()->first, ""};
  return Checkup{name, Health::kProblem, RanksByValue(ranks), advice};
}

}  // namespace

Result<std::vector<Checkup>> CheckRanks(const std::string& path) {
  TUTTI_ASSIGN_OR_RETURN(schema::RunView run, schema::RunView::Open(path));
  TUTTI_ASSIGN_OR_RETURN(
      Checkup torch,
      CheckOne(run.database(), "torch_version",
               "SELECT rank, torch_version FROM process ORDER BY rank",
               "ranks of one job should load one torch: compare the environments of these hosts"));
  TUTTI_ASSIGN_OR_RETURN(
      Checkup gpu, CheckOne(run.database(), "gpu",
                            "SELECT DISTINCT rank, name FROM device WHERE name <> 'GPU ' || id"
                            " ORDER BY rank",
                            "the slowest kind of GPU sets the pace of all of them"));
  return std::vector<Checkup>{std::move(torch), std::move(gpu)};
}

}  // namespace tutti::collector::doctor
