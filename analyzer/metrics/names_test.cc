#include "analyzer/metrics/names.h"

#include <gtest/gtest.h>

namespace tutti::analyzer {
namespace {

TEST(RoleOfKernel, KnowsTheFamiliesThatMoveDataBetweenRanks) {
  const char* const comm[] = {
      "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
      "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
      "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)",
      "ncclSymkDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymkDevWorkArgs4K)",
      "nccldevkernel_broadcast_ring_ll",
      "mscclKernel_Sum_half_Simple_false(ncclDevComm*, mscclAlgo*, mscclWork*)",
      "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)",
      "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(c10::BFloat16*)",
      "void (anonymous namespace)::two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, 8>(...)",
      "void deep_ep::internode_ll::dispatch<3, 10, 7168>(void*, float*, int*, long*)",
      "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<...>(...)",
      "nvshmemi_transfer_rma_block",
      "aiter::allreduce_fusion_kernel_1stage<__hip_bfloat16>"};
  for (const char* name : comm) EXPECT_EQ(RoleOfKernel(name), KernelRole::kCommunication) << name;
}

TEST(RoleOfKernel, LookAlikesStayCompute) {
  const char* const compute[] = {
      "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, ...>>(...)",
      "triton_red_fused_all_reduce_input_layernorm_3",
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy<...>(...)",
      "void gather_kernel_broadcast<float>(float const*, float*, int)",
      "all_to_all_permute_index_kernel_local",
      "void split_with_sizes_copy_out_contiguous_no_cast_kernel<...>(...)"};
  for (const char* name : compute) EXPECT_EQ(RoleOfKernel(name), KernelRole::kCompute) << name;
  EXPECT_EQ(RoleOfKernel("Memcpy PtoP (Device -> Device)"), KernelRole::kPeerCopy);
}

TEST(RoleOfOp, UserRangesAndBlockingCallsAreNotCompute) {
  EXPECT_EQ(RoleOfOp("aten::addmm", kScopeFunction), OpRole::kCompute);
  EXPECT_EQ(RoleOfOp("AddmmBackward0", kScopeBackward), OpRole::kCompute);
  EXPECT_EQ(RoleOfOp("c10d::allreduce_", kScopeFunction), OpRole::kHandOver);
  EXPECT_EQ(RoleOfOp("c10d::barrier", kScopeFunction), OpRole::kBlocking);
  EXPECT_EQ(RoleOfOp("DistributedDataParallel.forward", kScopeUser), OpRole::kRange);
  EXPECT_EQ(RoleOfOp("gloo:all_reduce", kScopeUser), OpRole::kBlocking);
  EXPECT_EQ(RoleOfOp("_c10d_functional::wait_tensor", kScopeFunction), OpRole::kBlocking);
  EXPECT_TRUE(IsOptimizerStep("Optimizer.step#SGD.step"));
  EXPECT_FALSE(IsOptimizerStep("Optimizer.zero_grad#SGD.zero_grad"));
}

}  // namespace
}  // namespace tutti::analyzer
