#include "analyzer/input/device_events.h"

#include <gtest/gtest.h>

#include <string>

namespace tutti::analyzer {
namespace {

ApiEvent Call(int64_t begin, int64_t end, int64_t correlation) {
  ApiEvent call;
  call.begin_ns = begin;
  call.end_ns = end;
  call.correlation_id = correlation;
  return call;
}

TEST(LaunchIndex, TakesTheOuterCallAndOfUsedAgainIdsTheLastBeforeTheWork) {
  // runtime [10,20) with the driver's call [12,18) inside; id 7 is used again at 100
  const ApiEvent calls[] = {Call(0, 5, 0), Call(10, 20, 7), Call(12, 18, 7), Call(100, 110, 7)};
  const LaunchIndex launches(calls);
  EXPECT_EQ(launches.Find(7, 30), 1);
  EXPECT_EQ(launches.Find(7, 99), 1);
  EXPECT_EQ(launches.Find(7, 120), 3);
  EXPECT_EQ(launches.Find(7, 3), 1);  // clock skew: before any call, still linked
  EXPECT_EQ(launches.Find(8, 30), -1);
  EXPECT_EQ(launches.Find(0, 30), -1);
}

DeviceEvent Kernel(int64_t name, int64_t begin, int64_t correlation, int64_t node = 0) {
  DeviceEvent event;
  event.stream_id = 7;
  event.name_id = name;
  event.begin_ns = begin;
  event.end_ns = begin + 5;
  event.correlation_id = correlation;
  event.graph_node_id = node;
  return event;
}

TEST(SetRoles, MetadataThenRulesThenNames) {
  const std::string names[] = {"acme::ring", "ncclDevKernel_AllReduce", "gemm"};
  const KernelRules rules = *KernelRules::Parse("compute nccl*\ncommunication gemm", "rules");
  DeviceEvent events[] = {Kernel(0, 10, 1), Kernel(0, 20, 2), Kernel(1, 30, 3), Kernel(2, 40, 4),
                          Kernel(1, 50, 5)};
  const DeviceCollective collectives[] = {{1, {}, {}, 10}, {5, {}, {}, 50}};
  SetRoles(events, collectives, rules, [&](int64_t id) -> const std::string& { return names[id]; });
  EXPECT_EQ(events[0].role, KernelRole::kCommunication);  // metadata
  EXPECT_EQ(events[1].role, KernelRole::kCompute);        // its name
  EXPECT_EQ(events[2].role, KernelRole::kCompute);        // a rule against its name
  EXPECT_EQ(events[3].role, KernelRole::kCommunication);  // a rule
  EXPECT_EQ(events[4].role, KernelRole::kCommunication);  // metadata against a rule
  EXPECT_TRUE(events[0].role_is_told);
  EXPECT_FALSE(events[1].role_is_told);
}

// All kernels of a graph launch share its correlation id: only those at the collective's place
// communicate.
TEST(SetRoles, InsideAGraphACollectiveIsOneOfManyKernels) {
  const std::string names[] = {"acme::ring", "gemm"};
  DeviceEvent events[] = {Kernel(0, 10, 9, 1), Kernel(1, 20, 9, 2)};
  const DeviceCollective collectives[] = {{9, 0, 7, 10}};
  SetRoles(events, collectives, {}, [&](int64_t id) -> const std::string& { return names[id]; });
  EXPECT_EQ(events[0].role, KernelRole::kCommunication);
  EXPECT_EQ(events[1].role, KernelRole::kCompute);
}

}  // namespace
}  // namespace tutti::analyzer
