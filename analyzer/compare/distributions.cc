#include "analyzer/compare/distributions.h"

#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>

namespace tutti::analyzer::compare {

namespace bm = boost::math;

double StudentTUpper(double t, double dof) {
  return bm::cdf(bm::complement(bm::students_t(dof), t));
}

double StudentTQuantile(double p, double dof) { return bm::quantile(bm::students_t(dof), p); }

double NoncentralityForPower(double alpha, double power, double dof) {
  const double critical = StudentTQuantile(1 - alpha, dof);
  double low = 0;
  double high = 2 * critical + 10;  // P(T' > critical) grows with the noncentrality
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    const double reached = bm::cdf(bm::complement(bm::non_central_t(dof, middle), critical));
    (reached < power ? low : high) = middle;
  }
  return (low + high) / 2;
}

double UnbiasedDeviationFactor(double dof) {
  return std::sqrt(2 / dof) / bm::tgamma_delta_ratio(dof / 2, 0.5);
}

Bounds DeviationBounds(double sd, double dof, double confidence) {
  const double tail = (1 - confidence) / 2;
  const bm::chi_squared chi(dof);
  return {sd * std::sqrt(dof / bm::quantile(bm::complement(chi, tail))),
          sd * std::sqrt(dof / bm::quantile(chi, tail))};
}

Bounds ClopperPearson(int64_t hits, int64_t trials, double confidence) {
  const double tail = (1 - confidence) / 2;
  const auto k = static_cast<double>(hits);
  const auto n = static_cast<double>(trials);
  Bounds bounds{0, 1};
  if (hits > 0) bounds.low = bm::quantile(bm::beta_distribution<>(k, n - k + 1), tail);
  if (hits < trials) {
    bounds.high = bm::quantile(bm::complement(bm::beta_distribution<>(k + 1, n - k), tail));
  }
  return bounds;
}

}  // namespace tutti::analyzer::compare
