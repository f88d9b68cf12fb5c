#include "analyzer/compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analyzer/compare/render.h"
#include "analyzer/compare/testing/launches.h"

namespace tutti::analyzer::compare {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kMs;
using testing::MakeArm;
using testing::MakeLaunch;
using testing::StepOf;

Comparison MustCompare(std::vector<Launch> base, std::vector<Launch> fresh,
                       const CompareOptions& options = {}) {
  Result<Comparison> comparison = Compare(std::move(base), std::move(fresh), options);
  EXPECT_TRUE(comparison.ok()) << comparison.status().message();
  return comparison.ok() ? std::move(*comparison) : Comparison();
}

const MetricResult& Of(const Comparison& comparison, std::string_view name) {
  static const MetricResult kNone;
  for (const MetricResult& result : comparison.metrics) {
    if (result.metric->name == name) return result;
  }
  ADD_FAILURE() << "no metric " << name;
  return kNone;
}

std::string RefusalOf(std::vector<Launch> base, std::vector<Launch> fresh,
                      const CompareOptions& options = {}) {
  const Result<Comparison> comparison = Compare(std::move(base), std::move(fresh), options);
  EXPECT_EQ(comparison.status().code(), StatusCode::kUsage);
  return comparison.status().message();
}

TEST(Compare, FindsASlowerStepAndSaysWhatItIsMadeOf) {
  const Comparison comparison =
      MustCompare(MakeArm("a", {}, 6, false), MakeArm("b", {.step_ms = 105}, 6, true));
  EXPECT_EQ(comparison.verdict, Verdict::kRegression);
  EXPECT_EQ(comparison.design, Design::kPaired);
  const MetricResult& step = Of(comparison, "step_time");
  EXPECT_EQ(step.verdict, Verdict::kRegression);
  EXPECT_NEAR(step.AsShare(step.estimate->delta), 0.05, 0.003);
  EXPECT_NEAR(*step.base, 100e6, 0.3e6);
  EXPECT_LT(*step.detectable, 0.012);
  // Communication stayed as it was.
  EXPECT_EQ(Of(comparison, "exposed_comm").verdict, Verdict::kNoRegression);
  EXPECT_EQ(comparison.GateCount(), 2u);
  EXPECT_THAT(ExplainInWords(*comparison.explanation), HasSubstr("compute +"));
}

TEST(Compare, ClearsWhatDidNotChange) {
  const Comparison comparison = MustCompare(MakeArm("a", {}, 6, false), MakeArm("b", {}, 6, true));
  EXPECT_EQ(comparison.verdict, Verdict::kNoRegression);
  EXPECT_FALSE(comparison.is_identical);
}

// Exposed communication is measured against the step: one more millisecond of a hundred.
TEST(Compare, GatesExposedCommunicationByItsShareOfTheStep) {
  const StepOf slower = {.step_ms = 103, .transfer_ms = 13};
  const Comparison comparison =
      MustCompare(MakeArm("a", {}, 6, false), MakeArm("b", slower, 6, true));
  const MetricResult& exposed = Of(comparison, "exposed_comm");
  EXPECT_EQ(exposed.verdict, Verdict::kRegression);
  EXPECT_NEAR(exposed.estimate->delta, 0.03, 0.001);
  EXPECT_NEAR(*exposed.base, 12e6, 1);
  EXPECT_NEAR(*exposed.now, 15e6, 1);
  EXPECT_EQ(Of(comparison, "exposed_comm_transfer").verdict, Verdict::kRegression);
  EXPECT_EQ(Of(comparison, "exposed_comm_wait").verdict, Verdict::kNoRegression);
  // 12 of 32 ms exposed before: overlap is reported and never judged.
  EXPECT_NEAR(*comparison.base_overlap, 20.0 / 32, 1e-9);
  EXPECT_NEAR(*comparison.new_overlap, 20.0 / 35, 1e-9);
}

TEST(Compare, PairsByTimeWhateverTheOrderOfTheArguments) {
  std::vector<Launch> base = MakeArm("a", {}, 4, false);
  std::vector<Launch> fresh = MakeArm("b", {}, 4, true);
  std::swap(base[0], base[3]);
  const Comparison paired = MustCompare(base, fresh);
  EXPECT_EQ(paired.design, Design::kPaired);
  EXPECT_EQ(paired.base[0].name, "a0");
  CompareOptions unpaired;
  unpaired.pairing = Pairing::kUnpaired;
  EXPECT_EQ(MustCompare(base, fresh, unpaired).design, Design::kUnpaired);
}

TEST(Compare, SaysThatBothSidesRanApart) {
  std::vector<Launch> base = MakeArm("a", {}, 6, false);
  std::vector<Launch> fresh = MakeArm("b", {}, 6, true);
  for (Launch& launch : fresh) *launch.begin_ns += 1'000'000 * kMs;
  const Comparison comparison = MustCompare(base, fresh);
  EXPECT_EQ(comparison.design, Design::kUnpaired);
  EXPECT_THAT(comparison.notes.back(), HasSubstr("run them in turns"));
}

TEST(Compare, SaysOnlyWithinLaunchForOneAgainstOne) {
  const std::vector<Launch> base = {MakeLaunch("a", {}, 1)};
  const std::vector<Launch> fresh = {MakeLaunch("b", {.step_ms = 110}, 2)};
  const Comparison open = MustCompare(base, fresh);
  EXPECT_EQ(open.design, Design::kWithinLaunch);
  EXPECT_EQ(open.verdict, Verdict::kInconclusive);
  EXPECT_THAT(open.notes.back(), HasSubstr("within-launch only"));
  CompareOptions gating;
  gating.within_launch = true;
  EXPECT_EQ(MustCompare(base, fresh, gating).verdict, Verdict::kRegression);
  const std::vector<Launch> same = {MakeLaunch("c", {}, 3)};
  EXPECT_EQ(MustCompare(base, same, gating).verdict, Verdict::kNoRegressionShown);
}

TEST(Compare, LeavesTheLongestWarmUpOutOfEveryLaunch) {
  std::vector<Launch> base = MakeArm("a", {}, 6, false);
  std::vector<Launch> fresh = MakeArm("b", {}, 6, true);
  for (int i = 0; i < 20; ++i) *fresh[2].steps[static_cast<size_t>(i)].period_ns *= i > 0 ? 2 : 1;
  const Comparison comparison = MustCompare(base, fresh);
  EXPECT_GE(comparison.warmup, 20u);
  EXPECT_LE(comparison.warmup, 25u);  // cut in batches of five
  EXPECT_EQ(comparison.verdict, Verdict::kNoRegression);
}

TEST(Compare, RefusesWhatIsNotComparable) {
  std::vector<Launch> base = MakeArm("a", {}, 2, false);
  std::vector<Launch> fresh = MakeArm("b", {}, 2, true);
  fresh[1].facts.ranks_expected = 4;
  fresh[0].facts.torch_version = "2.12.0";
  for (StepRecord& step : fresh[0].steps) step.samples = 128;
  const std::string text = RefusalOf(base, fresh);
  EXPECT_THAT(text, HasSubstr("world size: 2 (base a0), 4 (new b1)"));
  EXPECT_THAT(text, HasSubstr("torch version: 2.11.0 (base a0), 2.12.0 (new b0)"));
  EXPECT_THAT(text, HasSubstr("samples a step: 128 (new b0), 64 (base a0)"));
  CompareOptions force;
  force.force = true;
  EXPECT_EQ(MustCompare(base, fresh, force).forced.size(), 3u);
}

TEST(Compare, OnlyNotesOtherHostsAndFactsOfOneSide) {
  std::vector<Launch> fresh = MakeArm("b", {}, 6, true);
  fresh[0].facts.hosts = "node2";
  for (Launch& launch : fresh) launch.facts.torch_version.clear();
  const Comparison comparison = MustCompare(MakeArm("a", {}, 6, false), fresh);
  ASSERT_EQ(comparison.notes.size(), 2u);
  EXPECT_EQ(comparison.notes[0], "torch version: not known (new b0), 2.11.0 (base a0)");
  EXPECT_EQ(comparison.notes[1], "host: node1 (base a0), node2 (new b0)");
}

TEST(Compare, RefusesARunThatIsGivenTwice) {
  std::vector<Launch> base = MakeArm("a", {}, 2, false);
  base.push_back(base[0]);
  EXPECT_THAT(RefusalOf(base, MakeArm("b", {}, 3, true)), HasSubstr("hold the very same steps"));
}

TEST(Compare, TellsIdenticalSides) {
  std::vector<Launch> base = MakeArm("a", {}, 3, false);
  const Comparison comparison = MustCompare(base, base);
  EXPECT_TRUE(comparison.is_identical);
  EXPECT_EQ(comparison.verdict, Verdict::kNoRegression);
  EXPECT_THAT(comparison.notes[0], HasSubstr("the very same steps"));
}

TEST(Compare, SidesThatDifferInThePartsOfTheirStepsAreNotIdentical) {
  const std::vector<Launch> base = MakeArm("a", {}, 3, false);
  std::vector<Launch> fresh = base;
  fresh[1].steps[30].part_ns[kWaitPart] += 1000;
  EXPECT_FALSE(MustCompare(base, fresh).is_identical);
  fresh = base;
  fresh[2].names[{"kernel", "gemm"}] = {1, 500};
  EXPECT_FALSE(MustCompare(base, fresh).is_identical);
}

TEST(Compare, BlamesTheEnvironmentWhenTheControlMoves) {
  std::vector<Launch> base = MakeArm("a", {}, 6, false);
  std::vector<Launch> fresh = MakeArm("b", {.step_ms = 110}, 6, true);
  for (Launch& launch : base) launch.control_ns = 1000;
  for (Launch& launch : fresh) launch.control_ns = 1001;
  EXPECT_EQ(MustCompare(base, fresh).verdict, Verdict::kRegression);
  for (Launch& launch : fresh) launch.control_ns = 1050;
  const Comparison comparison = MustCompare(base, fresh);
  EXPECT_EQ(comparison.verdict, Verdict::kEnvironmentChanged);
  EXPECT_NEAR(std::expm1(comparison.control->delta), 0.05, 1e-9);
}

// A control whose own noise is larger than what matters blames nobody, and that is said.
TEST(Compare, DoesNotBlameTheEnvironmentForARestlessControl) {
  std::vector<Launch> base = MakeArm("a", {}, 6, false);
  std::vector<Launch> fresh = MakeArm("b", {.step_ms = 110}, 6, true);
  const double base_ns[] = {1000, 1100, 900, 1050, 950, 1000};
  const double new_ns[] = {1150, 950, 1100, 1000, 900, 1100};
  for (size_t i = 0; i < 6; ++i) base[i].control_ns = base_ns[i];
  for (size_t i = 0; i < 6; ++i) fresh[i].control_ns = new_ns[i];
  const Comparison comparison = MustCompare(base, fresh);
  EXPECT_GT(comparison.control->delta, 0.01);
  EXPECT_EQ(comparison.verdict, Verdict::kRegression);
  EXPECT_EQ(ControlInWords(comparison), "open");
  EXPECT_THAT(comparison.notes, Contains(HasSubstr("no more than its own noise")));
}

TEST(Compare, AGateMayHaveAnEffectOfItsOwn) {
  const std::vector<Launch> base = MakeArm("a", {}, 6, false);
  const std::vector<Launch> fresh = MakeArm("b", {.step_ms = 103}, 6, true);
  CompareOptions options;
  options.gates = {"step_time"};
  EXPECT_EQ(MustCompare(base, fresh, options).verdict, Verdict::kRegression);
  options.min_effects["step_time"] = 0.05;
  EXPECT_EQ(MustCompare(base, fresh, options).verdict, Verdict::kNoRegression);
  options.rule.min_effect = 0.05;
  options.min_effects["step_time"] = 0.01;
  const Comparison comparison = MustCompare(base, fresh, options);
  EXPECT_EQ(comparison.verdict, Verdict::kRegression);
  EXPECT_THAT(RuleInWords(comparison), HasSubstr("at least 5 % (step_time: 1 %)"));
}

TEST(Compare, NamesTheGatesThereAre) {
  CompareOptions options;
  options.gates = {"step_tiem"};
  EXPECT_THAT(RefusalOf(MakeArm("a", {}, 2, false), MakeArm("b", {}, 2, true), options),
              HasSubstr("there is no metric \"step_tiem\"; there are step_time, exposed_comm"));
}

TEST(Compare, GatesOnWhatTheUserNames) {
  CompareOptions options;
  options.gates = {"input_wait", "memory_peak", "throughput"};
  std::vector<Launch> fresh = MakeArm("b", {.step_ms = 104, .input_ms = 5}, 6, true);
  for (Launch& launch : fresh) launch.memory_peak_bytes = 600 << 20;
  const Comparison comparison = MustCompare(MakeArm("a", {}, 6, false), fresh, options);
  EXPECT_EQ(Of(comparison, "input_wait").verdict, Verdict::kRegression);
  EXPECT_NEAR(Of(comparison, "input_wait").estimate->delta, 0.04, 0.001);
  EXPECT_EQ(Of(comparison, "memory_peak").verdict, Verdict::kRegression);
  EXPECT_EQ(Of(comparison, "throughput").verdict, Verdict::kRegression);  // lower is worse
  EXPECT_NEAR(*Of(comparison, "throughput").base, 640, 3);
  EXPECT_FALSE(Of(comparison, "step_time").is_gate);
}

TEST(Compare, HasNothingToSayWithoutSteps) {
  std::vector<Launch> empty = {MakeLaunch("a", {}, 1, 0), MakeLaunch("b", {}, 2, 0)};
  const Result<Comparison> comparison = Compare(empty, MakeArm("c", {}, 2, true), {});
  EXPECT_EQ(comparison.status().code(), StatusCode::kBadData);
  EXPECT_THAT(comparison.status().message(), HasSubstr("no complete training step"));
}

TEST(Compare, ComparesOneAgainstAHistory) {
  const Comparison comparison =
      MustCompare(MakeArm("a", {}, 8, false), {MakeLaunch("b", {.step_ms = 105}, 99)});
  EXPECT_EQ(comparison.design, Design::kOneAgainst);
  EXPECT_EQ(comparison.verdict, Verdict::kRegression);
}

}  // namespace
}  // namespace tutti::analyzer::compare
