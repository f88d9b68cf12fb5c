// The probability distributions that verdicts rest on, by Boost.Math.
// Pure functions; callable from any thread. Preconditions are asserted by Boost, which
// throws std::domain_error where they don't hold.
#pragma once

#include <cstdint>

namespace tutti::analyzer::compare {

// Student's t with `dof` > 0 degrees of freedom (not necessarily whole).
double StudentTUpper(double t, double dof);  // P(T > t)
double StudentTQuantile(double p, double dof);

// The noncentrality at which a one-sided t test of level `alpha` has power `power`:
// P(T'(dof, lambda) > t_{1 - alpha}) = power. 4.41 for 0.01, 0.8 and 5 degrees.
double NoncentralityForPower(double alpha, double power, double dof);

// E[s] / sigma of the sample standard deviation with `dof` degrees of freedom, normal data:
// what s has to be divided by to be unbiased (c4 of quality control).
double UnbiasedDeviationFactor(double dof);

struct Bounds {
  double low = 0;
  double high = 0;
};

// Of a standard deviation of normal values of which `sd` was seen with `dof` > 0 degrees of
// freedom, two-sided at `confidence`, by the chi-square distribution.
Bounds DeviationBounds(double sd, double dof, double confidence);

// Exact bounds of a probability of which `hits` of `trials` were seen, two-sided at
// `confidence` (Clopper & Pearson, 1934). Requires 0 <= hits <= trials, trials > 0.
Bounds ClopperPearson(int64_t hits, int64_t trials, double confidence);

}  // namespace tutti::analyzer::compare
