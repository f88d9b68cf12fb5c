#include "collector/conventions/nccl_call.h"

#include <gtest/gtest.h>

namespace tutti::collector::conventions {
namespace {

TEST(NcclCall, NamesWhatMovesData) {
  EXPECT_EQ(CollectiveOpOfNcclCall("ncclAllReduce"), "all_reduce");
  EXPECT_EQ(CollectiveOpOfNcclCall("ncclSend"), "send");
  EXPECT_EQ(CollectiveOpOfNcclCall("ncclGroupEnd"), "");
  EXPECT_EQ(CollectiveOpOfNcclCall("ncclReduceOp"), "");
}

TEST(NcclCall, KnowsItsOwnNames) {
  EXPECT_TRUE(IsNcclCall("ncclCommInitRank"));
  EXPECT_FALSE(IsNcclCall("nccl"));
  EXPECT_FALSE(IsNcclCall("nccl:all_reduce"));
  EXPECT_TRUE(IsNcclKernel("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096>)"));
  EXPECT_TRUE(IsNcclKernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)"));
  EXPECT_FALSE(IsNcclKernel("reduce_kernel"));
}

}  // namespace
}  // namespace tutti::collector::conventions
