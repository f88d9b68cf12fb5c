// ByteDance's straggler study (OSDI '25) on its own two timelines: how much slower a job is than
// the same with operators that all take their mean and transfers that all take their median,
// and which stage and which data-parallel rank are to blame.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/replay/whatif.h"
#include "tests/golden/shared_data.h"

namespace tutti::golden {
namespace {

constexpr const char* kFolder = "straggler-analysis/data/";

class StragglerStudy : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    TUTTI_NEEDS_SHARED_DATA();
    const std::string name = GetParam();
    run_ = std::make_unique<ImportedRun>(
        std::vector<std::string>{kFolder + ("timeline-" + name + ".json.gz")});
    std::ifstream file(SharedFolder() + "/traces/" + kFolder + "result-" + name + ".json");
    result_ = nlohmann::json::parse(file);
    const auto analysis = analyzer::Analyze(run_->path(), {});
    ASSERT_TRUE(analysis.ok()) << analysis.status().message();
    auto model = analyzer::WhatIfModel::Open(run_->path(), analysis->path, {{}, true});
    ASSERT_TRUE(model.ok()) << model.status().message();
    model_ = std::move(*model);
  }

  double StepNs(const std::vector<std::string>& words) const {
    const auto answer = model_->Ask(words);
    EXPECT_TRUE(answer.ok()) << answer.status().message();
    return static_cast<double>(answer->step_ns);
  }

  // Ranks are numbered by stage, then by data-parallel rank.
  std::string RanksOf(int stage, int data_rank) const {
    const int data_size = result_["job_meta"]["dp_size"];
    const int stages = result_["job_meta"]["pp_size"];
    const int world = data_size * stages;  // of tensor-parallel ranks the study has one
    std::string ranks;
    for (int rank = 0; rank < world; ++rank) {
      if (stage >= 0 && rank / data_size != stage) continue;
      if (data_rank >= 0 && rank % data_size != data_rank) continue;
      ranks += (ranks.empty() ? "" : ",") + std::to_string(rank);
    }
    return ranks;
  }

  // The study's worst of a kind, and ours: whose cure saves most.
  std::string Worst(const char* key) const {
    const nlohmann::json& slowdowns = result_[key];
    std::string worst;
    for (const auto& [name, slowdown] : slowdowns.items()) {
      if (worst.empty() || slowdown > slowdowns[worst]) worst = name;
    }
    return worst;
  }

  std::unique_ptr<ImportedRun> run_;
  std::unique_ptr<analyzer::WhatIfModel> model_;
  nlohmann::json result_;
};

TEST_P(StragglerStudy, UnchangedIsAsMeasured) {
  EXPECT_NEAR(static_cast<double>(model_->unchanged_ns()),
              static_cast<double>(model_->measured_ns()),
              0.03 * static_cast<double>(model_->measured_ns()));
}

TEST_P(StragglerStudy, TheSlowdownIsTheirs) {
  const double slowdown = StepNs({"no-gaps"}) / StepNs({"no-gaps", "balanced"});
  const double expected = result_["blocking_slowdown"];
  EXPECT_NEAR(slowdown, expected, 0.01 * expected);
}

TEST_P(StragglerStudy, TheWorstStageIsTheirs) {
  int worst = -1;
  double least_ns = 0;
  for (int stage = 0; stage < result_["job_meta"]["pp_size"]; ++stage) {
    const double step_ns = StepNs({"no-gaps", "balanced=" + RanksOf(stage, -1)});
    if (worst >= 0 && step_ns >= least_ns) continue;
    worst = stage;
    least_ns = step_ns;
  }
  EXPECT_EQ(std::to_string(worst), Worst("blocking_decompose_by_stage"));
}

// All are balanced but those of one data-parallel rank: the slowdown that it alone makes.
TEST_P(StragglerStudy, TheSlowdownOfEachDataParallelRankIsTheirs) {
  const double balanced_ns = StepNs({"no-gaps", "balanced"});
  const nlohmann::json& slowdowns = result_["blocking_decompose_by_dp_rank"];
  const int data_size = result_["job_meta"]["dp_size"];
  for (int data_rank = 0; data_rank < data_size; ++data_rank) {
    std::string others;
    for (int other = 0; other < data_size; ++other) {
      if (other != data_rank) others += (others.empty() ? "" : ",") + RanksOf(-1, other);
    }
    const double slowdown = StepNs({"no-gaps", "balanced=" + others}) / balanced_ns;
    const double expected = slowdowns[std::to_string(data_rank)];
    EXPECT_NEAR(slowdown, expected, 0.01 * expected) << data_rank;
  }
}

INSTANTIATE_TEST_SUITE_P(Timelines, StragglerStudy, testing::Values("ST", "AR"));

}  // namespace
}  // namespace tutti::golden
