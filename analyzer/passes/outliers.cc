// Steps that take much longer than usual, and the part of a rank's step that makes them so.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <string>

#include "analyzer/input/step_parts.h"
#include "analyzer/input/steps_that_count.h"
#include "analyzer/metrics/percentile.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

// Beyond the median by this many median deviations, and by a quarter of the median.
constexpr int64_t kDeviations = 6;
constexpr int64_t kQuarter = 4;

struct Usual {
  int64_t median_ns = 0;
  int64_t threshold_ns = 0;
};

Usual UsualPeriod(const std::vector<schema::RunStepRow>& steps) {
  std::vector<int64_t> periods;
  for (const schema::RunStepRow& step : steps) {
    if (step.step_period_ns) periods.push_back(*step.step_period_ns);
  }
  Usual usual;
  usual.median_ns = MedianOf(periods).value_or(0);
  for (int64_t& period : periods) period = std::abs(period - usual.median_ns);
  const int64_t deviation_ns = MedianOf(std::move(periods)).value_or(0);
  usual.threshold_ns =
      usual.median_ns + std::max(kDeviations * deviation_ns, usual.median_ns / kQuarter);
  return usual;
}

// Parts of one rank's steps, and the gap before each, which comes last.
constexpr size_t kBetween = kStepParts.size();
using PartValues = std::array<int64_t, kStepParts.size() + 1>;
struct RankParts {
  std::map<int64_t, PartValues> of_step;
  PartValues median_ns = {};
};

std::string NameOfPart(size_t part) {
  return part == kBetween ? "between_steps" : std::string(kStepParts[part].name);
}

// Waiting for others says who suffers, not why.
bool IsVictim(size_t part) { return NameOfPart(part) == "exposed_comm_wait"; }

void SetMedians(const std::vector<schema::RunStepRow>& steps, RankParts& rank) {
  for (size_t part = 0; part < rank.median_ns.size(); ++part) {
    std::vector<int64_t> values;
    for (const schema::RunStepRow& step : steps) {
      const auto found = rank.of_step.find(step.step);
      if (found != rank.of_step.end()) values.push_back(found->second[part]);
    }
    rank.median_ns[part] = MedianOf(std::move(values)).value_or(0);
  }
}

Result<std::map<int64_t, RankParts>> ReadParts(RunContext& context,
                                               const std::vector<schema::RunStepRow>& steps) {
  std::map<int64_t, RankParts> ranks;
  TUTTI_ASSIGN_OR_RETURN(const auto rows, context.Read<schema::StepBreakdownRow>(""));
  for (const schema::StepBreakdownRow& row : rows) {
    PartValues& values = ranks[row.rank].of_step[row.step];
    for (size_t part = 0; part < kBetween; ++part) values[part] = row.*kStepParts[part].value;
  }
  TUTTI_ASSIGN_OR_RETURN(const auto windows, context.Read<schema::StepWindowRow>(""));
  for (const schema::StepWindowRow& row : windows) {
    ranks[row.rank].of_step[row.step][kBetween] = row.between_steps_ns.value_or(0);
  }
  for (auto& [rank, parts] : ranks) SetMedians(steps, parts);
  return ranks;
}

// The part of any rank that exceeds its own median most.
void SetCause(const std::map<int64_t, RankParts>& ranks, schema::StepOutlierRow& row) {
  row.part = NameOfPart(0);
  row.rank = ranks.empty() ? 0 : ranks.begin()->first;
  for (const auto& [rank, parts] : ranks) {
    const auto found = parts.of_step.find(row.step);
    if (found == parts.of_step.end()) continue;
    for (size_t part = 0; part < parts.median_ns.size(); ++part) {
      const int64_t excess_ns = found->second[part] - parts.median_ns[part];
      if (IsVictim(part) || excess_ns <= row.part_ns) continue;
      row.rank = rank;
      row.part = NameOfPart(part);
      row.part_ns = excess_ns;
    }
  }
}

Status Run(RunContext& context) {
  constexpr size_t kMostOutliers = 100;
  TUTTI_ASSIGN_OR_RETURN(const StepsThatCount counted, ReadStepsThatCount(context));
  const Usual usual = UsualPeriod(counted.steps);
  std::vector<schema::StepOutlierRow> rows;
  for (const schema::RunStepRow& step : counted.steps) {
    const int64_t period_ns = step.step_period_ns.value_or(0);
    if (period_ns <= usual.threshold_ns || rows.size() >= kMostOutliers) continue;
    rows.push_back({step.step, period_ns, period_ns - usual.median_ns});
  }
  if (rows.empty()) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const auto ranks, ReadParts(context, counted.steps));
  for (schema::StepOutlierRow& row : rows) SetCause(ranks, row);
  return context.Write(rows);
}

}  // namespace

extern const Pass kOutliersPass;
const Pass kOutliersPass{"outliers", Run};

}  // namespace tutti::analyzer
