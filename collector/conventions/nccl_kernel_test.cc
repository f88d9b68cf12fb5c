#include "collector/conventions/nccl_kernel.h"

#include <gtest/gtest.h>

namespace tutti::collector::conventions {
namespace {

std::string Words(std::string_view name) {
  const NcclKernel kernel = ParseNcclKernel(name);
  return kernel.op + " " + kernel.dtype + " " + kernel.algorithm + " " + kernel.protocol;
}

TEST(ParseNcclKernel, NamesOfTodaysReleases) {
  EXPECT_EQ(Words("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            "all_reduce float32 RING LL");
  EXPECT_EQ(Words("ncclDevKernel_ReduceScatter_Sum_bf16_NVLS_TREE_SIMPLE(ncclDevKernelArgs)"),
            "reduce_scatter bfloat16 NVLS_TREE SIMPLE");
  EXPECT_EQ(Words("ncclDevKernel_AllGather_RING_LL128"), "all_gather  RING LL128");
  EXPECT_EQ(Words("ncclDevKernel_Reduce_Sum_f16_RING_LL"), "reduce float16 RING LL");
}

TEST(ParseNcclKernel, NamesOfOldReleases) {
  EXPECT_EQ(Words("ncclKernel_AllReduce_TREE_LL_Sum_float(ncclDevComm*, unsigned long)"),
            "all_reduce float32 TREE LL");
  EXPECT_EQ(Words("ncclKernel_Broadcast_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long)"),
            "broadcast int8 RING SIMPLE");
}

TEST(ParseNcclKernel, KernelsOfSeveralOpsTellNone) {
  EXPECT_EQ(Words("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"), "   ");
  EXPECT_EQ(Words("ncclDevKernel_Generic_4"), "   ");
}

}  // namespace
}  // namespace tutti::collector::conventions
