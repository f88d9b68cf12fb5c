#include "analyzer/compare/permutation.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "analyzer/compare/random.h"

namespace tutti::analyzer::compare {
namespace {

constexpr size_t kMostPairsExact = 16;
constexpr double kMostArrangements = 50'000;
constexpr int kRandomArrangements = 20'000;
constexpr uint64_t kSeed = 0x7475747469;

// Counts arrangements against the one that was observed. Sums of the same numbers in another
// order differ by rounding only: those are ties.
class Tally {
 public:
  Tally(double observed, double scale) : observed_(observed), tolerance_(1e-12 * scale) {}
  void Count(double statistic) {
    ++total_;
    up_ += statistic >= observed_ - tolerance_ ? 1 : 0;
    down_ += statistic <= observed_ + tolerance_ ? 1 : 0;
  }
  PermutationP Exact() const { return {Share(up_, total_), Share(down_, total_)}; }
  // The observed arrangement is one of the possible ones.
  PermutationP Sampled() const {
    return {Share(up_ + 1, total_ + 1), Share(down_ + 1, total_ + 1)};
  }

 private:
  static double Share(int64_t part, int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  }
  double observed_;
  double tolerance_;
  int64_t total_ = 0;
  int64_t up_ = 0;
  int64_t down_ = 0;
};

double SumOf(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double SumOfSizes(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0,
                         [](double sum, double value) { return sum + std::abs(value); });
}

double SignedSum(std::span<const double> differences, uint64_t signs) {
  double sum = 0;
  for (size_t i = 0; i < differences.size(); ++i) {
    sum += (signs >> (i % 64) & 1) != 0 ? -differences[i] : differences[i];
  }
  return sum;
}

double ArrangementCount(size_t n, size_t chosen) {
  double count = 1;
  for (size_t i = 1; i <= chosen; ++i) {
    count *= static_cast<double>(n - chosen + i) / static_cast<double>(i);
  }
  return count;
}

}  // namespace

PermutationP SignFlips(std::span<const double> differences) {
  Tally tally(SumOf(differences), SumOfSizes(differences));
  if (differences.size() <= kMostPairsExact) {
    for (uint64_t signs = 0; signs < uint64_t{1} << differences.size(); ++signs) {
      tally.Count(SignedSum(differences, signs));
    }
    return tally.Exact();
  }
  Random random(kSeed);
  std::vector<double> flipped(differences.begin(), differences.end());
  for (int i = 0; i < kRandomArrangements; ++i) {
    for (double& value : flipped) value = random.Uniform() < 0.5 ? -value : value;
    tally.Count(SumOf(flipped));
  }
  return tally.Sampled();
}

PermutationP LabelPermutations(std::span<const double> base, std::span<const double> fresh) {
  std::vector<double> all(base.begin(), base.end());
  all.insert(all.end(), fresh.begin(), fresh.end());
  // With the total fixed, the difference of means grows with the sum of the new group.
  Tally tally(SumOf(fresh), SumOfSizes(all));
  if (ArrangementCount(all.size(), fresh.size()) <= kMostArrangements) {
    std::vector<char> is_fresh(all.size(), 0);
    std::fill(is_fresh.end() - static_cast<std::ptrdiff_t>(fresh.size()), is_fresh.end(), 1);
    do {
      double sum = 0;
      for (size_t i = 0; i < all.size(); ++i) sum += is_fresh[i] != 0 ? all[i] : 0;
      tally.Count(sum);
    } while (std::next_permutation(is_fresh.begin(), is_fresh.end()));
    return tally.Exact();
  }
  Random random(kSeed);
  for (int i = 0; i < kRandomArrangements; ++i) {
    for (size_t k = 0; k < fresh.size(); ++k) {
      std::swap(all[k], all[k + random.Below(all.size() - k)]);
    }
    tally.Count(SumOf(std::span(all).first(fresh.size())));
  }
  return tally.Sampled();
}

}  // namespace tutti::analyzer::compare
