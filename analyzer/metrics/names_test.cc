#include "analyzer/metrics/names.h"

#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

TEST(RoleOfOp, UserRangesAndBlockingCallsAreNotCompute) {
  EXPECT_EQ(RoleOfOp("aten::addmm", kScopeFunction), OpRole::kCompute);
  EXPECT_EQ(RoleOfOp("AddmmBackward0", kScopeBackward), OpRole::kCompute);
  EXPECT_EQ(RoleOfOp("torch::autograd::AccumulateGrad", kScopeBackward), OpRole::kCompute);
  EXPECT_EQ(RoleOfOp("torch::autograd::CppNode<Sum>", kScopeBackward), OpRole::kRange);
  EXPECT_EQ(RoleOfOp("autograd::engine::evaluate_function: torch::autograd::CppNode<Sum>",
                     kScopeFunction),
            OpRole::kRange);
  EXPECT_EQ(RoleOfOp("c10d::allreduce_", kScopeFunction), OpRole::kHandOver);
  EXPECT_EQ(RoleOfOp("FSDP::all_gather (layers.3)", kScopeUser), OpRole::kHandOver);
  EXPECT_EQ(RoleOfOp("FSDP::all_gather_copy_out (layers.3)", kScopeUser), OpRole::kRange);
  EXPECT_EQ(RoleOfOp("c10d::barrier", kScopeFunction), OpRole::kBlocking);
  EXPECT_EQ(RoleOfOp("DistributedDataParallel.forward", kScopeUser), OpRole::kRange);
  EXPECT_EQ(RoleOfOp("gloo:all_reduce", kScopeUser), OpRole::kBlocking);
  EXPECT_EQ(RoleOfOp("_c10d_functional::wait_tensor", kScopeFunction), OpRole::kBlocking);
  EXPECT_TRUE(IsOptimizerStep("Optimizer.step#SGD.step"));
  EXPECT_FALSE(IsOptimizerStep("Optimizer.zero_grad#SGD.zero_grad"));
}

TEST(IsBlockingCall, KnowsWaitsAndAllocationsWithAndWithoutVersion) {
  for (const char* name : {"cudaStreamSynchronize", "cudaMalloc_v3020", "cuMemFree_v2",
                           "hipDeviceSynchronize", "cudaMemcpy"}) {
    EXPECT_TRUE(IsBlockingCall(name)) << name;
  }
  for (const char* name : {"cudaMemcpyAsync", "cudaLaunchKernel", "cudaEventQuery",
                           "cudaStreamWaitEvent", "cudaMallocAsync"}) {
    EXPECT_FALSE(IsBlockingCall(name)) << name;
  }
}

}  // namespace
}  // namespace tutti::analyzer
