#include "analyzer/replay/scenario.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "analyzer/metrics/glob.h"
#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer {
namespace {

constexpr const char* kKnown =
    "no-stragglers, rank-at-median=RANK, no-input-wait, no-exposed-comm, no-copies, no-syncs, "
    "bandwidth=FACTOR, launch=FACTOR, host=FACTOR, op=PATTERN:FACTOR, "
    "bucket-mb=SIZE, balanced or balanced=RANK,RANK, no-gaps";

Status Unknown(const std::string& word, const std::string& why) {
  return UsageError("scenario " + word + ": " + why + "; there are " + kKnown);
}

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> ParseFactor(std::string_view text) {
  const std::optional<double> factor = ParseNumber<double>(text);
  // Beyond this times overflow.
  return factor && *factor >= 0 && *factor <= 1e6 ? factor : std::nullopt;
}

// "6,7"; empty: it is none.
std::vector<int64_t> ParseRanks(std::string_view text) {
  std::vector<int64_t> ranks;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::optional<int64_t> rank = ParseNumber<int64_t>(text.substr(begin, end - begin));
    if (!rank) return {};
    ranks.push_back(*rank);
    begin = end + 1;
  }
  return ranks;
}

double& FactorOf(Scenario& scenario, TimeKind kind) {
  return scenario.factor_of_kind[static_cast<size_t>(kind)];
}

bool AddFlag(std::string_view word, Scenario& scenario) {
  if (word == "no-stragglers") {
    scenario.all_at_median = true;
  } else if (word == "no-input-wait") {
    FactorOf(scenario, TimeKind::kInput) = 0;
  } else if (word == "no-exposed-comm") {
    FactorOf(scenario, TimeKind::kTransfer) = 0;
    FactorOf(scenario, TimeKind::kUnsplit) = 0;
  } else if (word == "no-copies") {
    FactorOf(scenario, TimeKind::kCopy) = 0;
  } else if (word == "no-syncs") {
    FactorOf(scenario, TimeKind::kSync) = 0;
    scenario.without_blocks = true;
  } else if (word == "balanced") {
    scenario.is_balanced = true;
  } else if (word == "no-gaps") {
    FactorOf(scenario, TimeKind::kIdle) = 0;
  } else {
    return false;
  }
  return true;
}

Status AddPattern(const std::string& word, std::string_view value, Scenario& scenario) {
  const size_t colon = value.rfind(':');
  const std::optional<double> factor =
      colon == std::string_view::npos ? std::nullopt : ParseFactor(value.substr(colon + 1));
  if (!factor || colon == 0) return Unknown(word, "it takes PATTERN:FACTOR, e.g. op=aten::mm:0.5");
  scenario.factor_of_pattern.emplace_back(value.substr(0, colon), *factor);
  return OkStatus();
}

Status AddValue(const std::string& word, Scenario& scenario) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos) return Unknown(word, "not known");
  const std::string_view name = std::string_view(word).substr(0, equals);
  const std::string_view value = std::string_view(word).substr(equals + 1);
  if (name == "op") return AddPattern(word, value, scenario);
  if (name == "rank-at-median") {
    const std::optional<int64_t> rank = ParseNumber<int64_t>(value);
    if (!rank) return Unknown(word, "it takes a rank");
    scenario.ranks_at_median.push_back(*rank);
    return OkStatus();
  }
  if (name == "balanced") {
    scenario.is_balanced = true;
    scenario.balanced_ranks = ParseRanks(value);
    if (scenario.balanced_ranks.empty()) return Unknown(word, "it takes ranks, e.g. balanced=6,7");
    return OkStatus();
  }
  const std::optional<double> factor = ParseFactor(value);
  if (name == "bucket-mb") {
    if (!factor || *factor == 0) return Unknown(word, "it takes MiB, more than 0, at most 1000000");
    scenario.bucket_mib = factor;
    return OkStatus();
  }
  if (!factor) return Unknown(word, "it takes a factor from 0 to 1000000");
  if (name == "launch") {
    FactorOf(scenario, TimeKind::kLaunch) *= *factor;
  } else if (name == "host") {
    FactorOf(scenario, TimeKind::kHost) *= *factor;
  } else if (name == "bandwidth") {
    if (*factor == 0) return Unknown(word, "nothing would ever arrive");
    FactorOf(scenario, TimeKind::kTransfer) /= *factor;
    FactorOf(scenario, TimeKind::kUnsplit) /= *factor;
  } else {
    return Unknown(word, "not known");
  }
  return OkStatus();
}

}  // namespace

Result<Scenario> Scenario::Parse(const std::vector<std::string>& words) {
  Scenario scenario;
  if (!words.empty()) scenario.text.clear();
  for (const std::string& word : words) {
    scenario.text += (scenario.text.empty() ? "" : " ") + word;
    if (AddFlag(word, scenario)) continue;
    TUTTI_RETURN_IF_ERROR(AddValue(word, scenario));
  }
  return scenario;
}

ScenarioWeights::ScenarioWeights(const EventGraph& graph, const Scenario& scenario,
                                 const std::vector<int64_t>& ranks,
                                 const std::vector<std::string>& names, const ExcessWork& excess,
                                 const Gradients& gradients)
    : graph_(graph),
      excess_(excess),
      without_blocks_(scenario.without_blocks),
      factor_of_kind_(scenario.factor_of_kind) {
  if (!scenario.factor_of_pattern.empty()) {
    factor_of_name_.assign(names.size(), 1);
    for (size_t i = 1; i < names.size(); ++i) {
      for (const auto& [pattern, factor] : scenario.factor_of_pattern) {
        if (MatchesGlob(pattern, names[i])) factor_of_name_[i] *= factor;
      }
    }
  }
  if (scenario.all_at_median || !scenario.ranks_at_median.empty()) {
    SetRanksAtMedian(scenario, ranks);
  }
  if (scenario.is_balanced) SetBalanced(scenario, ranks, names.size());
  if (scenario.bucket_mib) {
    transfer_of_end_ = TransfersInBuckets(graph, gradients, *scenario.bucket_mib);
  }
  is_unchanged_ = factor_of_name_.empty() && factor_of_work_.empty() && usual_of_name_.empty() &&
                  transfer_of_end_.empty() &&
                  std::all_of(factor_of_kind_.begin(), factor_of_kind_.end(),
                              [](double factor) { return factor == 1; });
}

void ScenarioWeights::SetRanksAtMedian(const Scenario& scenario,
                                       const std::vector<int64_t>& ranks) {
  std::vector<bool> is_chosen(ranks.size(), scenario.all_at_median);
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const int64_t chosen : scenario.ranks_at_median) {
      if (ranks[rank] == chosen) is_chosen[rank] = true;
    }
  }
  factor_of_work_ = excess_.Without(is_chosen);
}

void ScenarioWeights::SetBalanced(const Scenario& scenario, const std::vector<int64_t>& ranks,
                                  size_t names) {
  for (const int64_t rank : ranks) {
    is_balanced_.push_back(scenario.balanced_ranks.empty() ||
                           std::find(scenario.balanced_ranks.begin(), scenario.balanced_ranks.end(),
                                     rank) != scenario.balanced_ranks.end());
  }
  std::map<size_t, std::vector<int64_t>> weights;
  for (EventGraph::Id id = 0; id < graph_.size(); ++id) {
    for (const EventGraph::Edge& edge : graph_.EdgesInto(id)) {
      if (edge.name == 0 || edge.weight_ns <= 0) continue;
      weights[edge.name * kTimeKinds + static_cast<size_t>(edge.kind)].push_back(edge.weight_ns);
    }
  }
  usual_of_name_.assign(names * kTimeKinds, std::nullopt);
  for (auto& [place, values] : weights) {
    const auto kind = static_cast<TimeKind>(place % kTimeKinds);
    int64_t sum = 0;
    for (const int64_t value : values) sum += value;
    const auto count = static_cast<int64_t>(values.size());
    usual_of_name_[place] =
        kind == TimeKind::kTransfer ? MedianOf(std::move(values)) : std::optional(sum / count);
  }
}

}  // namespace tutti::analyzer
