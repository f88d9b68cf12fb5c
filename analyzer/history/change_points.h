// Where a series of launches changed its level: E-divisive (Matteson & James, 2014) proposes a
// split, which counts only if a t test, a minimum length of both sides and a minimum size of the
// change agree. The guards are what keeps single spikes and the wobble of a machine out.
// Pure functions, deterministic; callable from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tutti::analyzer::history {

struct ChangeRule {
  size_t min_segment = 3;     // launches on both sides of a change
  double min_effect = 0.01;   // on the scale of the values
  double alpha = 0.001;       // of the t test
  size_t enough_before = 10;  // launches that one more is judged by
};

struct ChangePoint {
  size_t index = 0;   // of the first value after the change
  double before = 0;  // mean of the segment that ends there
  double after = 0;   // of the one that begins
  double p = 1;       // two-sided
  // Fewer than min_segment values follow: one launch, or two, that may be a spike.
  bool pending = false;

  double change() const { return after - before; }
};

// In order. Means are of the segments between neighbouring change points. O(n^2) for n values
// and each change.
std::vector<ChangePoint> FindChangePoints(std::span<const double> values,
                                          const ChangeRule& rule = {});

// How far apart the distributions of values[0, split) and the rest are: n m / (n + m) times the
// energy distance, with unbiased means within each side. Requires two values on both sides.
double EnergyStatistic(std::span<const double> values, size_t split);

// Student's t test of equal means with a common spread, two-sided. Requires values on both sides,
// three together.
double StudentP(std::span<const double> before, std::span<const double> after);

}  // namespace tutti::analyzer::history
