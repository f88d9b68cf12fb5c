#include "analyzer/compare/named_change.h"

#include <gtest/gtest.h>

#include "analyzer/compare/random.h"

namespace tutti::analyzer::compare {
namespace {

constexpr double kStepNs = 100e6;

// Six launches whose names take the given time a step, with 1 % noise.
std::vector<Launch> ArmOf(const std::map<NameKey, NamedTime>& names, uint64_t seed) {
  Random random(seed);
  std::vector<Launch> arm(6);
  for (Launch& launch : arm) {
    for (const auto& [key, time] : names) {
      launch.names[key] = {time.count_per_step, time.ns_per_step * (1 + 0.01 * random.Normal())};
    }
  }
  return arm;
}

const NamedChange* Find(const std::vector<NamedChange>& changes, const std::string& name) {
  for (const NamedChange& change : changes) {
    if (change.name == name) return &change;
  }
  return nullptr;
}

TEST(CompareNames, ListsWhatChangedMostFirst) {
  const auto base = ArmOf({{{"kernel", "gemm"}, {4, 50e6}},
                           {{"kernel", "relu"}, {4, 5e6}},
                           {{"operator", "aten::mm"}, {4, 10e6}}},
                          1);
  const auto fresh = ArmOf({{{"kernel", "gemm"}, {4, 58e6}},
                            {{"kernel", "relu"}, {4, 5e6}},
                            {{"operator", "aten::mm"}, {4, 9e6}}},
                           2);
  const auto changes = CompareNames(base, fresh, true, kStepNs);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].name, "gemm");
  EXPECT_NEAR(changes[0].change_ns(), 8e6, 1e6);
  EXPECT_LT(changes[0].q, 0.01);
  EXPECT_TRUE(changes[0].listed);
  EXPECT_TRUE(Find(changes, "aten::mm")->listed);
  EXPECT_FALSE(Find(changes, "relu")->listed);
}

TEST(CompareNames, TellsNewVanishedAndRenamed) {
  const auto base = ArmOf(
      {{{"kernel", "void gemm_kernel<float, 128>"}, {4, 50e6}}, {{"kernel", "dropout"}, {1, 2e6}}},
      1);
  const auto fresh = ArmOf({{{"kernel", "void gemm_kernel<float, 256>"}, {4, 45e6}},
                            {{"kernel", "memcpy_batch"}, {1, 2e6}}},
                           2);
  const auto changes = CompareNames(base, fresh, true, kStepNs);
  ASSERT_EQ(changes.size(), 3u);
  const NamedChange* gemm = Find(changes, "void gemm_kernel<float, 256>");
  ASSERT_NE(gemm, nullptr);
  EXPECT_EQ(gemm->presence, Presence::kRenamed);
  EXPECT_EQ(gemm->old_name, "void gemm_kernel<float, 128>");
  EXPECT_NEAR(gemm->change_ns(), -5e6, 1.5e6);
  EXPECT_TRUE(gemm->listed);
  EXPECT_EQ(Find(changes, "dropout")->presence, Presence::kVanished);
  EXPECT_EQ(Find(changes, "memcpy_batch")->presence, Presence::kNew);
}

TEST(CompareNames, TestsNothingWithOneLaunchEach) {
  std::vector<Launch> base(1);
  base[0].names[{"kernel", "gemm"}] = {1, 10e6};
  std::vector<Launch> fresh(1);
  fresh[0].names[{"kernel", "gemm"}] = {1, 11e6};
  const auto changes = CompareNames(base, fresh, false, kStepNs);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_FALSE(changes[0].estimate.has_value());
  EXPECT_TRUE(changes[0].listed);  // 1 % of the step
}

// A hundred names that don't change: the list stays empty but for chance.
TEST(CompareNames, ControlsFalseDiscoveries) {
  std::map<NameKey, NamedTime> names;
  for (int i = 0; i < 100; ++i) names[{"kernel", "k" + std::to_string(i)}] = {1, 20e6};
  int listed = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto changes =
        CompareNames(ArmOf(names, 2 * seed), ArmOf(names, 2 * seed + 1), true, kStepNs);
    for (const NamedChange& change : changes) listed += change.listed ? 1 : 0;
  }
  EXPECT_LE(listed, 5);  // of 2,000
}

}  // namespace
}  // namespace tutti::analyzer::compare
