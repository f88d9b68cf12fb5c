#include "analyzer/metrics/collective_sources.h"

#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

SourceCall Row(int64_t id, std::string origin, std::optional<int64_t> sequence,
               std::optional<int64_t> begin = {}, std::optional<int64_t> end = {}) {
  SourceCall row;
  row.id = id;
  row.origin = std::move(origin);
  row.communicator_id = 1;
  row.sequence = sequence;
  row.op = "all_reduce";
  row.begin_ns = begin;
  row.end_ns = end;
  return row;
}

TEST(JoinSources, TimesComeFromTheSourceNearestToTheWork) {
  SourceCall c10d = Row(1, "c10d", 4, 10, 12);
  c10d.enqueue_ns = 10;
  c10d.bytes = 4096;
  const SourceCall rows[] = {c10d, Row(2, "gloo_op", 4, 15, 30)};
  const std::vector<SourceCall> calls = JoinSources(rows);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].id, 2);
  EXPECT_EQ(calls[0].begin_ns, 15);
  EXPECT_EQ(calls[0].end_ns, 30);
  EXPECT_EQ(calls[0].enqueue_ns, 10);
  EXPECT_EQ(calls[0].bytes, 4096);
}

TEST(JoinSources, ACorrelationIdJoinsAKernelWithItsCall) {
  SourceCall plugin = Row(1, "nccl_plugin", 4);
  plugin.correlation_id = 77;
  SourceCall kernel = Row(2, "kernel", {}, 50, 60);
  kernel.communicator_id.reset();
  kernel.correlation_id = 77;
  const SourceCall rows[] = {plugin, kernel};
  const std::vector<SourceCall> calls = JoinSources(rows);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].sequence, 4);
  EXPECT_EQ(calls[0].begin_ns, 50);
}

TEST(JoinSources, RowsOfOneOriginStayApartAndComeInTheirOrder) {
  const SourceCall rows[] = {Row(1, "gloo_op", 5, 40, 50), Row(2, "gloo_op", 5, 20, 30),
                             Row(3, "gloo_op", {}, 10, 12)};
  const std::vector<SourceCall> calls = JoinSources(rows);
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].id, 3);
  EXPECT_EQ(calls[1].id, 2);
  EXPECT_EQ(calls[2].id, 1);
}

TEST(IsOpen, NeedsSomethingThatSaysWhenItRan) {
  EXPECT_FALSE(IsOpen({.origin = "kernel", .begin_ns = 1, .end_ns = 2}));
  EXPECT_TRUE(IsOpen({.origin = "gloo_op", .begin_ns = 1}));
  EXPECT_TRUE(IsOpen({.origin = "gloo_op", .enqueue_ns = 1})) << "queued behind another";
  EXPECT_TRUE(IsOpen({.origin = "nccl_nvtx", .enqueue_ns = 1, .begin_ns = 1}));
  EXPECT_FALSE(IsOpen({.origin = "nccl_nvtx", .enqueue_ns = 1})) << "its kernel was not found";
}

}  // namespace
}  // namespace tutti::analyzer
