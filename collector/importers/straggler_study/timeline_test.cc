#include "collector/importers/straggler_study/timeline.h"

#include <gtest/gtest.h>

#include "collector/importers/pickle/json.h"

namespace tutti::collector::importers::straggler_study {
namespace {

constexpr const char* kTimeline = R"([
  {"name": "forward-compute", "pid": 1, "tid": 5, "ts": 2.0005, "dur": 1.25, "ph": "X",
   "args": {"step": 7, "model_chunk": 0, "mb_id": 3, "seq_id": 0}},
  {"name": "forward-send", "pid": 0, "tid": 1, "ts": 1, "dur": 0.5, "ph": "X",
   "args": {"step": 7, "model_chunk": -1, "mb_id": -1, "seq_id": 0}},
  {"name": "lost", "pid": 0, "tid": 99, "ts": 1, "dur": 1, "ph": "X", "args": {"step": 7}},
  {"name": "undated", "pid": 0, "tid": 1, "dur": 1, "ph": "X", "args": {"step": 7}},
  {"name": "thread_name", "pid": 0, "tid": 1, "ph": "M",
   "args": {"name": "PP rank 1, TP rank 0, pp-comm"}},
  {"name": "thread_name", "pid": 1, "tid": 5, "ph": "M",
   "args": {"name": "PP rank 0, TP rank 0, compute"}},
  {"name": "process_name", "pid": 0, "ph": "M", "args": {"name": "DP rank [0]"}}])";

TEST(ParseTimeline, FindsWorkersAndTheirSpans) {
  const auto document = pickle::ReadJson(kTimeline);
  ASSERT_TRUE(document.ok() && document->problem.ok());
  const Timeline timeline = ParseTimeline(document->root);
  ASSERT_EQ(timeline.workers.size(), 2U);
  EXPECT_EQ(timeline.workers[0], (Worker{1, 0, 0}));  // stage 0 before stage 1
  EXPECT_EQ(timeline.workers[1], (Worker{0, 1, 0}));
  ASSERT_EQ(timeline.spans.size(), 2U);
  EXPECT_EQ(timeline.spans[0].name, "forward-compute");
  EXPECT_EQ(timeline.spans[0].stream, "compute");
  EXPECT_EQ(timeline.spans[0].begin_ns, 2001);  // 2000.5 rounded away from zero
  EXPECT_EQ(timeline.spans[0].end_ns, 3251);    // 3250.5
  EXPECT_EQ(timeline.spans[0].step, 7);
  EXPECT_EQ(timeline.spans[0].microbatch, 3);
  EXPECT_EQ(timeline.spans[1].stream, "pp-comm");
  EXPECT_FALSE(timeline.spans[1].microbatch.has_value());
  EXPECT_EQ(timeline.unreadable, 2);
}

TEST(IsTimelineHead, NeedsTheArgumentsOfTheStudy) {
  EXPECT_TRUE(IsTimelineHead(kTimeline));
  EXPECT_FALSE(IsTimelineHead(R"([{"name": "aten::mm", "args": {"step": 1}}])"));
}

}  // namespace
}  // namespace tutti::collector::importers::straggler_study
