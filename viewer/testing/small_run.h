// A run of two ranks that is small enough to be drawn by hand: what goldens of the scene show.
//
// ns       0        100       200       300       400
// steps    [step 0 ==========)[step 1 ============)
// rank 0   [gemm=====) [allreduce====)[gemm===) ....   stream 7, with 40 tiny kernels at the end
// rank 1      [gemm==========)[allred)   [gemm=)
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "viewer/model/event_set.h"
#include "viewer/model/lane_builder.h"
#include "viewer/model/run_summary.h"

namespace tutti::viewer::testing {

class SmallRun {
 public:
  SmallRun() {
    for (int64_t rank = 0; rank < 2; ++rank) {
      summary.ranks.push_back(
          {.rank = rank, .host = "node0", .device_kind = "gpu", .begin_ns = 0, .end_ns = 400});
      summary.traces.emplace_back();
    }
    summary.begin_ns = 0;
    summary.end_ns = 400;
    for (int64_t step = 0; step < 2; ++step) {
      summary.steps.push_back({.step = step,
                               .number = 10 + step,
                               .origin = "annotate",
                               .begin_ns = 200 * step,
                               .end_ns = 200 * step + 200,
                               .tag = "train"});
    }
    ranks.push_back(Rank0());
    ranks.push_back(Rank1());
  }

  RunSummary summary;
  std::shared_ptr<NameTable> shared_names = std::make_shared<NameTable>();
  NameTable& names = *shared_names;
  RankTraces ranks;

 private:
  Event At(const char* name, int64_t begin_ns, int64_t end_ns, Category category,
           uint32_t row_id = 0) {
    return {.begin_ns = begin_ns,
            .end_ns = end_ns,
            .name = names.Intern(name),
            .row_id = row_id,
            .category = category,
            .source = Source::kKernel};
  }

  static Track Stream(std::vector<Event> events) {
    Track track;
    track.kind = TrackKind::kStream;
    track.device = 0;
    track.id = 7;
    track.label = "stream 7";
    track.lanes = BuildLanes(std::move(events));
    return track;
  }

  std::shared_ptr<const RankTrace> Rank0() {
    std::vector<Event> events = {At("void Gemm<float>(int)", 0, 110, Category::kCompute, 1),
                                 At("ncclAllReduce", 120, 200, Category::kCommunication, 2),
                                 At("memcpy HtoD", 130, 150, Category::kCopy, 3),
                                 At("void Gemm<float>(int)", 200, 290, Category::kCompute, 4)};
    for (int64_t i = 0; i < 40; ++i) {
      events.push_back(
          At("add", 300 + 2 * i, 301 + 2 * i, Category::kCompute, static_cast<uint32_t>(10 + i)));
    }
    auto trace = std::make_shared<RankTrace>();
    trace->tracks.push_back(Stream(std::move(events)));
    Track memory;
    memory.kind = TrackKind::kMemory;
    memory.label = "memory of GPU 0";
    memory.unit = "bytes";
    memory.series = Series({{0, 1024}, {100, 4096}, {200, 2048}});
    trace->tracks.push_back(std::move(memory));
    return trace;
  }

  std::shared_ptr<const RankTrace> Rank1() {
    auto trace = std::make_shared<RankTrace>();
    trace->tracks.push_back(Stream({At("void Gemm<float>(int)", 30, 160, Category::kCompute, 1),
                                    At("ncclAllReduce", 160, 200, Category::kCommunication, 2),
                                    At("void Gemm<float>(int)", 230, 300, Category::kCompute, 3)}));
    return trace;
  }
};

}  // namespace tutti::viewer::testing
