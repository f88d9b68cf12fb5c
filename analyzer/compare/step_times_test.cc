#include "analyzer/compare/step_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "analyzer/compare/comparison.h"
#include "analyzer/compare/render.h"
#include "schema/testing/scratch.h"

namespace tutti::analyzer::compare {
namespace {

using schema::testing::Scratch;
using ::testing::HasSubstr;

class StepTimesTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& text) {
    const std::string path = scratch_.Path("times.json");
    std::ofstream(path) << text;
    return path;
  }
  Scratch scratch_;
};

TEST_F(StepTimesTest, ReadsALaunch) {
  const auto times = ReadStepTimes(Write(R"({"unit": "ms", "steps": [0.6, 0.7, 1.5]})"));
  ASSERT_TRUE(times.ok() && *times);
  const Launch& launch = *(*times)->launch;
  ASSERT_EQ(launch.steps.size(), 3u);
  EXPECT_EQ(launch.steps[1].period_ns, 700'000);
  EXPECT_EQ(launch.resolution_ns, 100'000);
}

TEST_F(StepTimesTest, IsNotForOtherFiles) {
  EXPECT_FALSE(ReadStepTimes(Write(R"({"traceEvents": [], "unit": "ms"})"))->has_value());
  EXPECT_FALSE(ReadStepTimes(Write("[1, 2]"))->has_value());
  EXPECT_FALSE(ReadStepTimes(Write("{broken"))->has_value());
  EXPECT_FALSE(ReadStepTimes(scratch_.Path("missing"))->has_value());
}

TEST_F(StepTimesTest, RefusesWhatIsNoTime) {
  for (const char* steps : {"[1, -2]", "[\"1\"]", "[1e300]", "[null]", "[]"}) {
    const auto times =
        ReadStepTimes(Write(std::string(R"({"unit": "ms", "steps": )") + steps + "}"));
    EXPECT_EQ(times.status().code(), StatusCode::kBadData) << steps;
  }
  EXPECT_THAT(ReadStepTimes(Write(R"({"unit": "h", "steps": [1]})")).status().message(),
              HasSubstr("none of ns, us, ms, s"));
}

// Pairs of step times of a noisy job whose right verdicts are known: only one is a regression.
// The figures are kept as they were reported, in ms.
constexpr const char* kNoisyPairs = R"({
 "unit": "ms",
 "noise": {
  "before": [92.9269, 93.111, 104.0168, 86.2365, 99.1397, 86.4635, 106.6058, 101.2174, 108.1379,
   96.9749, 102.3892, 98.2847, 95.57, 100.8719, 92.4568, 97.872, 104.1796, 100.3452, 97.5383,
   113.1368, 100.349, 96.479, 100.9574, 96.8632, 97.6894, 97.8988, 112.1515, 100.1355, 101.0534,
   104.0452],
  "after": [112.1013, 98.6579, 96.2567, 114.8478, 91.2422, 97.7969, 104.0013, 113.7017, 94.3006,
   85.4335, 103.9699, 96.8701, 97.6752, 102.7678, 101.3421, 101.746, 97.4132, 107.7359, 109.0299,
   100.192, 97.2885, 104.4, 102.8668, 93.7576, 97.2386, 106.2949, 99.4224, 98.0272, 101.2748,
   99.7989]},
 "real": {
  "before": [99.998, 98.4555, 101.3994, 100.1596, 99.2987, 100.7836, 100.2471, 100.0141, 100.8384,
   101.8088, 100.4429, 101.2681, 101.7258, 99.1833, 99.5815, 100.621, 98.6336, 99.7862, 101.0343,
   100.8346, 100.4636, 98.4838, 101.8807, 100.4407, 100.6137, 100.3959, 98.627, 98.8521, 99.0267,
   101.5345],
  "after": [107.3352, 107.8062, 107.7962, 108.4567, 108.4005, 108.2143, 106.9907, 105.4889,
   108.1332, 108.2144, 108.9845, 107.9175, 107.5111, 108.3283, 106.7565, 107.1668, 107.1949,
   108.2302, 109.6729, 108.6107, 108.9135, 108.1905, 108.2232, 107.6405, 107.7751, 106.0561,
   107.038, 106.9704, 108.6696, 108.5305]},
 "tiny": {"timer_resolution_ms": 0.1,
  "before": [0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.7],
  "after": [0.7, 0.7, 0.7, 0.7, 0.6]}
})";

Comparison CompareWithinLaunch(StepTimePair pair) {
  CompareOptions options;
  options.within_launch = true;
  std::vector<Launch> base;
  std::vector<Launch> fresh;
  base.push_back(std::move(pair.before));
  fresh.push_back(std::move(pair.after));
  Result<Comparison> comparison = Compare(std::move(base), std::move(fresh), options);
  EXPECT_TRUE(comparison.ok()) << comparison.status().message();
  return comparison.ok() ? std::move(*comparison) : Comparison();
}

std::map<std::string, Comparison> CompareFile(const std::string& path) {
  std::map<std::string, Comparison> comparisons;
  auto times = ReadStepTimes(path);
  EXPECT_TRUE(times.ok() && *times) << times.status().message();
  if (!times.ok() || !*times) return comparisons;
  for (StepTimePair& pair : (*times)->pairs) {
    std::string name = pair.name;
    comparisons.emplace(std::move(name), CompareWithinLaunch(std::move(pair)));
  }
  return comparisons;
}

TEST_F(StepTimesTest, TellsARegressionFromNoise) {
  const auto comparisons = CompareFile(Write(kNoisyPairs));
  ASSERT_EQ(comparisons.size(), 3u);
  EXPECT_EQ(comparisons.at("noise").verdict, Verdict::kNoRegressionShown);
  EXPECT_EQ(comparisons.at("real").verdict, Verdict::kRegression);
  EXPECT_EQ(comparisons.at("tiny").verdict, Verdict::kNoRegressionShown);
  EXPECT_THAT(comparisons.at("tiny").metrics[0].remark, HasSubstr("resolution"));
  EXPECT_THAT(HeadlineOf(comparisons.at("real")), HasSubstr("within-launch only"));
}

// The published case itself, where it is at hand.
TEST_F(StepTimesTest, JudgesThePerfGateNoiseCase) {
  const char* folder = std::getenv("TUTTI_SHARED");  // NOLINT(concurrency-mt-unsafe)
  const std::string path = std::string(folder != nullptr ? folder : TUTTI_SOURCE_DIR "/../shared") +
                           "/cases/38-perf-gate-noise/pairs.json";
  if (!std::ifstream(path)) GTEST_SKIP() << path << " is not there";
  const auto comparisons = CompareFile(path);
  ASSERT_EQ(comparisons.size(), 5u);
  for (const auto& [name, comparison] : comparisons) {
    EXPECT_EQ(comparison.verdict,
              name == "real" ? Verdict::kRegression : Verdict::kNoRegressionShown)
        << name;
    EXPECT_EQ(comparison.is_identical, name == "self") << name;
  }
}

}  // namespace
}  // namespace tutti::analyzer::compare
