#include "analyzer/compare/explanation.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "analyzer/compare/figures.h"

namespace tutti::analyzer::compare {
namespace {

using Parts = std::array<double, kParts.size()>;

// The mean step of a launch in ns per part; the period is their sum.
std::optional<Parts> MeanStep(const Launch& launch, size_t warmup) {
  Parts sum{};
  double steps = 0;
  for (size_t i = std::min(warmup, launch.steps.size()); i < launch.steps.size(); ++i) {
    const StepRecord& step = launch.steps[i];
    if (step.period_ns.value_or(0) <= 0 || step.ranks == 0) continue;
    const auto ranks = static_cast<double>(step.ranks);
    double told = static_cast<double>(step.between_ns) / ranks;
    sum[kBetweenSteps] += told;
    for (size_t part = 0; part < kBreakdownParts; ++part) {
      const double ns = static_cast<double>(step.part_ns[part]) / ranks;
      sum[part] += ns;
      told += ns;
    }
    sum[kRanksApart] += static_cast<double>(*step.period_ns) - told;
    ++steps;
  }
  if (steps == 0) return {};
  for (double& ns : sum) ns /= steps;
  return sum;
}

std::optional<Parts> MeanOfLaunches(std::span<const Launch> launches, size_t warmup) {
  Parts mean{};
  for (const Launch& launch : launches) {
    const std::optional<Parts> step = MeanStep(launch, warmup);
    if (!step) return {};
    for (size_t part = 0; part < mean.size(); ++part) {
      mean[part] += (*step)[part] / static_cast<double>(launches.size());
    }
  }
  return mean;
}

// Whole nanoseconds that add up to the rounded sum: the largest remainders are rounded up.
std::array<int64_t, kParts.size()> RoundTogether(const Parts& parts) {
  std::array<int64_t, kParts.size()> whole{};
  std::array<size_t, kParts.size()> order{};
  std::iota(order.begin(), order.end(), size_t{0});
  const auto remainder = [&](size_t part) { return parts[part] - std::floor(parts[part]); };
  for (size_t part = 0; part < whole.size(); ++part) {
    whole[part] = static_cast<int64_t>(std::floor(parts[part]));
  }
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return remainder(a) > remainder(b); });
  const int64_t total = std::llround(std::accumulate(parts.begin(), parts.end(), 0.0));
  int64_t left = total - std::accumulate(whole.begin(), whole.end(), int64_t{0});
  for (size_t i = 0; left > 0; ++i, --left) ++whole[order[i % order.size()]];
  return whole;
}

}  // namespace

std::optional<Explanation> Explain(std::span<const Launch> base, std::span<const Launch> fresh,
                                   size_t warmup) {
  const std::optional<Parts> old_parts = MeanOfLaunches(base, warmup);
  const std::optional<Parts> new_parts = MeanOfLaunches(fresh, warmup);
  if (!old_parts || !new_parts) return {};
  const auto old_ns = RoundTogether(*old_parts);
  const auto new_ns = RoundTogether(*new_parts);
  Explanation explanation;
  for (size_t part = 0; part < kParts.size(); ++part) {
    explanation.base_ns += old_ns[part];
    explanation.new_ns += new_ns[part];
    if (old_ns[part] == 0 && new_ns[part] == 0) continue;
    explanation.parts.push_back({kParts[part], old_ns[part], new_ns[part]});
  }
  return explanation;
}

std::string PartInWords(std::string_view part) {
  std::string words(part);
  std::ranges::replace(words, '_', ' ');
  return words;
}

std::string ExplainInWords(const Explanation& explanation) {
  std::vector<PartChange> parts = explanation.parts;
  std::ranges::stable_sort(parts, [](const PartChange& a, const PartChange& b) {
    return std::abs(a.change_ns()) > std::abs(b.change_ns());
  });
  int64_t moved = 0;
  for (const PartChange& part : parts) moved += std::abs(part.change_ns());
  std::string words;
  int64_t told = 0;
  for (const PartChange& part : parts) {
    if (part.change_ns() == 0 || told * 10 >= moved * 9) break;
    told += std::abs(part.change_ns());
    if (!words.empty()) words += ", ";
    words += PartInWords(part.part);
    words += " ";
    words += SignedDuration(static_cast<double>(part.change_ns()));
  }
  return words;
}

}  // namespace tutti::analyzer::compare
