// Two small runs on one axis: the second has steps of 250 ns and a gemm that is 60 ns longer in
// each.
//
// axis     0        250       500      (run A: 0 200 400; run B: 1000 1250 1500)
// A rank 0 [gemm)[ar)..[gemm).....
// B rank 0 [gemm====)[ar)[gemm===)
#pragma once

#include <memory>
#include <utility>

#include "viewer/model/two_runs.h"
#include "viewer/testing/small_run.h"

namespace tutti::viewer::testing {

class TwoSmallRuns {
  SmallRun run_;  // before what is made of it

 public:
  TwoSmallRuns() {
    RunSummary a = run_.summary;
    AddBreakdowns(200, 150, &a);
    RunSummary b = a;
    b.breakdowns.clear();
    b.windows.clear();
    b.title = "b";
    for (size_t i = 0; i < b.steps.size(); ++i) {
      b.steps[i].begin_ns = 1000 + 250 * static_cast<int64_t>(i);
      b.steps[i].end_ns = b.steps[i].begin_ns + 250;
    }
    for (schema::RankRow& rank : b.ranks) {
      rank.begin_ns = 1000;
      rank.end_ns = 1500;
    }
    b.begin_ns = 1000;
    b.end_ns = 1500;
    AddBreakdowns(250, 210, &b);
    summary = MergeRuns(std::move(a), std::move(b));
    for (size_t slot = 0; slot < summary.ranks.size(); ++slot) ranks.push_back(Load(slot));
  }

  RunSummary summary;
  RankTraces ranks;
  std::shared_ptr<NameTable> shared_names = run_.shared_names;

 private:
  static void AddBreakdowns(int64_t step_ns, int64_t compute_ns, RunSummary* run) {
    for (int64_t rank = 0; rank < 2; ++rank) {
      for (size_t i = 0; i < run->steps.size(); ++i) {
        const schema::RunStepRow& step = run->steps[i];
        run->windows.push_back({.rank = rank,
                                .step = step.step,
                                .begin_ns = step.begin_ns,
                                .end_ns = step.end_ns,
                                .step_ns = step_ns});
        run->breakdowns.push_back({.rank = rank,
                                   .step = step.step,
                                   .step_ns = step_ns,
                                   .compute_ns = compute_ns,
                                   .idle_ns = step_ns - compute_ns});
      }
    }
  }

  // One kernel a step.
  std::shared_ptr<const RankTrace> Load(size_t slot) {
    std::vector<Event> events;
    for (const schema::StepWindowRow& window : summary.windows) {
      if (window.rank != summary.ranks[slot].rank) continue;
      const int64_t length = summary.IsOfB(slot) ? 210 : 150;
      events.push_back({.begin_ns = window.begin_ns,
                        .end_ns = window.begin_ns + length,
                        .name = shared_names->Intern("gemm"),
                        .row_id = static_cast<uint32_t>(events.size() + 1),
                        .category = Category::kCompute,
                        .source = Source::kKernel});
    }
    auto trace = std::make_shared<RankTrace>();
    Track stream;
    stream.kind = TrackKind::kStream;
    stream.device = 0;
    stream.id = 7;
    stream.label = "stream 7";
    stream.lanes = BuildLanes(std::move(events));
    trace->tracks.push_back(std::move(stream));
    return trace;
  }
};

}  // namespace tutti::viewer::testing
