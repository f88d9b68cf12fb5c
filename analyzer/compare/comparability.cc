#include "analyzer/compare/comparability.h"

#include <algorithm>
#include <map>

#include "analyzer/compare/metric.h"

namespace tutti::analyzer::compare {
namespace {

struct Fact {
  std::string_view name;
  std::string (*of)(const Launch& launch);  // "" not known
  bool forbids;                             // else it is only noted
};

std::string NonZero(int64_t number) { return number == 0 ? "" : std::to_string(number); }

// The middle of the known amounts a step: last batches of an epoch may be smaller.
std::string PerStep(const Launch& launch, std::optional<int64_t> StepRecord::*amount) {
  std::vector<int64_t> amounts;
  for (const StepRecord& step : launch.steps) {
    if (step.*amount) amounts.push_back(*(step.*amount));
  }
  if (amounts.empty()) return "";
  std::ranges::sort(amounts);
  return std::to_string(amounts[amounts.size() / 2]);
}

const Fact kFacts[] = {
    {"workload", [](const Launch& l) { return l.facts.workload; }, true},
    {"world size", [](const Launch& l) { return NonZero(l.facts.ranks_expected); }, true},
    {"device", [](const Launch& l) { return l.facts.device_kind; }, true},
    {"GPU", [](const Launch& l) { return l.facts.gpus; }, true},
    {"samples a step", [](const Launch& l) { return PerStep(l, &StepRecord::samples); }, true},
    // Lengths of texts vary from batch to batch, so that only samples forbid.
    {"tokens a step", [](const Launch& l) { return PerStep(l, &StepRecord::tokens); }, false},
    {"torch version", [](const Launch& l) { return l.facts.torch_version; }, true},
    {"CPU", [](const Launch& l) { return l.facts.hardware; }, true},
    {"host", [](const Launch& l) { return l.facts.hosts; }, false},
};

// Value -> the first launch that has it, with its arm.
using Values = std::map<std::string, std::string>;

void Collect(const Fact& fact, std::string_view arm, std::span<const Launch> launches,
             Values& values) {
  for (const Launch& launch : launches) {
    values.emplace(fact.of(launch), std::string(arm) + " " + launch.name);
  }
}

std::string Told(const Fact& fact, const Values& values) {
  std::string text(fact.name);
  text += ":";
  const char* separator = " ";
  for (const auto& [value, launch] : values) {
    text += separator + (value.empty() ? "not known" : value) + " (" + launch + ")";
    separator = ", ";
  }
  return text;
}

}  // namespace

Comparability CheckComparability(std::span<const Launch> base, std::span<const Launch> fresh) {
  Comparability result;
  for (const Fact& fact : kFacts) {
    Values values;
    Collect(fact, "base", base, values);
    Collect(fact, "new", fresh, values);
    if (values.size() < 2) continue;
    const size_t known = values.size() - values.count("");
    (fact.forbids && known > 1 ? result.obstacles : result.notes).push_back(Told(fact, values));
  }
  return result;
}

std::vector<std::string> FindTwins(std::span<const Launch> launches) {
  const auto series = [](const Launch& launch) { return PeriodsOf(launch, 0); };
  std::map<std::vector<int64_t>, std::string> seen;
  for (const Launch& launch : launches) {
    std::vector<int64_t> periods = series(launch);
    if (periods.size() < 5) continue;
    const auto [first, is_new] = seen.emplace(std::move(periods), launch.name);
    if (!is_new) return {first->second, launch.name};
  }
  return {};
}

}  // namespace tutti::analyzer::compare
