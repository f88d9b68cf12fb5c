// Kineto's tb_plugin on its own ResNet-50 samples: how long each step waits for data. It shares
// a step's window out in an order of precedence: kernels, copies, fills, runtime calls, loader.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "analyzer/analyze.h"
#include "common/interval.h"
#include "schema/derived_rows.h"
#include "schema/reader.h"
#include "schema/rows.h"
#include "schema/trace_file.h"
#include "tests/golden/shared_data.h"

namespace tutti::golden {
namespace {

template <typename Row, typename Time>
IntervalSet UnionOf(schema::Database& database, Time time) {
  std::vector<Interval> all;
  EXPECT_TRUE(schema::ForEach<Row>(database, "", [&](const Row& row) {
                if (const std::optional<Interval> interval = time(row)) all.push_back(*interval);
              }).ok());
  SortByBegin(all);
  return Union(all);
}

constexpr auto kTimeOf = [](const auto& row) -> std::optional<Interval> {
  if (!row.end_ns) return std::nullopt;
  if constexpr (requires { *row.begin_ns; }) {
    if (!row.begin_ns) return std::nullopt;
    return Interval{*row.begin_ns, *row.end_ns};
  } else {
    return Interval{row.begin_ns, *row.end_ns};
  }
};

struct Step {
  Interval window;
  int64_t input_wait_ns = 0;
};

// Tutti's windows and its own input wait, by the program's number of the step.
std::map<int64_t, Step> StepsOf(const std::string& run) {
  const Result<analyzer::Analysis> analysis = analyzer::Analyze(run, {});
  EXPECT_TRUE(analysis.ok()) << analysis.status().message();
  schema::Database derived = *schema::OpenRunFile(analysis->path);
  schema::Statement statement = *derived.Prepare(
      "SELECT s.number, w.begin_ns, w.end_ns, b.input_wait_ns FROM step_window AS w"
      " JOIN step_breakdown AS b USING (rank, step) JOIN run_step AS s USING (step)");
  std::map<int64_t, Step> steps;
  while (*statement.Step()) {
    steps[*statement.Get<int64_t>(0)] = {{*statement.Get<int64_t>(1), *statement.Get<int64_t>(2)},
                                         *statement.Get<int64_t>(3)};
  }
  return steps;
}

nlohmann::json GoldenOf(const std::string& set) {
  std::ifstream file(SharedFolder() + "/goldens/tb_plugin/" + set + "/tb_plugin.json");
  return nlohmann::json::parse(file);
}

struct Sample {
  const char* trace;
  const char* golden;
  double loader_us;  // mean of the steps
  double step_us;
};

class TbPlugin : public testing::TestWithParam<Sample> {};

INSTANTIATE_TEST_SUITE_P(
    ResNet50, TbPlugin,
    testing::Values(Sample{"kineto/tb_plugin/samples/resnet50_num_workers_0/"
                           "worker0.1623143089861.pt.trace.json.gz",
                           "samples_resnet50_num_workers_0_worker0.1623143089861", 59'262, 177'592},
                    Sample{"kineto/tb_plugin/samples/resnet50_num_workers_4/"
                           "worker0.1623212756351.pt.trace.json.gz",
                           "samples_resnet50_num_workers_4_worker0.1623212756351", 1'186, 141'068}),
    [](const auto& param) { return std::string("workers") + (param.index == 0 ? "0" : "4"); });

TEST_P(TbPlugin, DataLoaderTimeOfEachStep) {
  TUTTI_NEEDS_SHARED_DATA();
  const ImportedRun run({GetParam().trace});
  const std::map<int64_t, Step> steps = StepsOf(run.path());
  schema::Database trace = *schema::OpenRankFile(run.RankFile(0));
  IntervalSet before = UnionOf<schema::KernelRow>(trace, kTimeOf);
  before = Merge(before, UnionOf<schema::MemcpyRow>(trace, kTimeOf));
  before = Merge(before, UnionOf<schema::MemsetRow>(trace, kTimeOf));
  const IntervalSet device = before;
  before = Merge(before, UnionOf<schema::ApiCallRow>(trace, kTimeOf));
  const IntervalSet loader = UnionOf<schema::DataWaitRow>(trace, kTimeOf);

  const nlohmann::json golden = GoldenOf(GetParam().golden);
  double loader_us = 0;
  double step_us = 0;
  ASSERT_EQ(steps.size(), golden["step_costs"].size());
  for (const auto& [number, step] : steps) {
    const nlohmann::json& costs = golden["step_costs"][std::to_string(number)];
    EXPECT_EQ(step.window.length_ns(), costs["Total"].get<int64_t>() * 1'000) << number;
    const int64_t waited_ns = TotalNs(Clip(Subtract(loader, before), step.window));
    EXPECT_EQ(waited_ns, costs["DataLoader"].get<int64_t>() * 1'000) << number;
    // Tutti's input wait yields to the device only: calls of other threads don't hide it.
    EXPECT_EQ(step.input_wait_ns, TotalNs(Clip(Subtract(loader, device), step.window)));
    loader_us += static_cast<double>(waited_ns) / 1e3 / static_cast<double>(steps.size());
    step_us +=
        static_cast<double>(step.window.length_ns()) / 1e3 / static_cast<double>(steps.size());
  }
  EXPECT_EQ(std::round(loader_us), GetParam().loader_us);
  EXPECT_EQ(std::round(step_us), GetParam().step_us);
}

}  // namespace
}  // namespace tutti::golden
