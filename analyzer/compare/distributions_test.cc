#include "analyzer/compare/distributions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tutti::analyzer::compare {
namespace {

// scipy 1.17.1: st.t.ppf(.975, 5), st.t.ppf(.95, 9.2), st.t.sf(2.5, 7.5)
TEST(StudentT, MatchesScipy) {
  EXPECT_NEAR(StudentTQuantile(0.975, 5), 2.5705818356363146, 1e-9);
  EXPECT_NEAR(StudentTQuantile(0.95, 9.2), 1.8285862961396673, 1e-9);
  EXPECT_NEAR(StudentTUpper(2.5, 7.5), 0.019410129136812764, 1e-9);
}

// scipy: brentq(lambda l: st.nct.sf(st.t.ppf(1-alpha, dof), dof, l) - power, 0, 200)
TEST(NoncentralityForPower, MatchesScipy) {
  EXPECT_NEAR(NoncentralityForPower(0.01, 0.8, 2), 8.959040367071523, 1e-9);
  EXPECT_NEAR(NoncentralityForPower(0.01, 0.8, 5), 4.404940727099947, 1e-9);
  EXPECT_NEAR(NoncentralityForPower(0.01, 0.8, 11), 3.6254014090093647, 1e-9);
  EXPECT_NEAR(NoncentralityForPower(0.005, 0.8, 29), 3.6270569546246465, 1e-9);
}

// numpy: sqrt(2/df) * exp(gammaln((df+1)/2) - gammaln(df/2))
TEST(UnbiasedDeviationFactor, MatchesTheGammaFunction) {
  EXPECT_NEAR(UnbiasedDeviationFactor(5), 0.9515328619481445, 1e-9);
  EXPECT_NEAR(UnbiasedDeviationFactor(1), std::sqrt(2 / M_PI), 1e-12);  // c4(2), by hand
}

// scipy: sd * sqrt(dof / st.chi2.ppf(1 - tail, dof)), sd * sqrt(dof / st.chi2.ppf(tail, dof))
TEST(DeviationBounds, MatchesScipy) {
  EXPECT_NEAR(DeviationBounds(0.0085, 12, 0.95).low, 0.006095230877073799, 1e-12);
  EXPECT_NEAR(DeviationBounds(0.0085, 12, 0.95).high, 0.014031248681946829, 1e-12);
  EXPECT_NEAR(DeviationBounds(0.0085, 12, 0.6).high, 0.01053800365948884, 1e-12);
}

// scipy: st.binomtest(k, n).proportion_ci(.95, method='exact')
TEST(ClopperPearson, MatchesScipy) {
  EXPECT_EQ(ClopperPearson(0, 100, 0.95).low, 0);
  EXPECT_NEAR(ClopperPearson(0, 100, 0.95).high, 0.03621669264519054, 1e-9);
  EXPECT_NEAR(ClopperPearson(3, 300, 0.95).low, 0.0020670072350923137, 1e-9);
  EXPECT_NEAR(ClopperPearson(3, 300, 0.95).high, 0.028944511255692713, 1e-9);
  EXPECT_NEAR(ClopperPearson(50, 50, 0.95).low, 0.9288782635357954, 1e-9);
  EXPECT_EQ(ClopperPearson(50, 50, 0.95).high, 1);
}

}  // namespace
}  // namespace tutti::analyzer::compare
