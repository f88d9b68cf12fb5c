#include "collector/convert/cupti/activity_names.h"

#include <gtest/gtest.h>

namespace tutti::collector::convert::cupti {
namespace {

TEST(DemangledName, LeavesWhatIsNotMangled) {
  EXPECT_EQ(DemangledName("_Z3addPfS_i"), "add(float*, float*, int)");
  EXPECT_EQ(DemangledName("triton_poi_fused_add_0"), "triton_poi_fused_add_0");
  EXPECT_EQ(DemangledName("_Znonsense"), "_Znonsense");
  EXPECT_EQ(DemangledName(""), "");
}

TEST(ApiFunctionName, DropsVersionAndStreamMark) {
  EXPECT_EQ(ApiFunctionName("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(ApiFunctionName("cudaMemcpyAsync_ptsz_v7000"), "cudaMemcpyAsync");
  EXPECT_EQ(ApiFunctionName("cuMemcpyHtoDAsync_v2_ptsz"), "cuMemcpyHtoDAsync_v2");
  EXPECT_EQ(ApiFunctionName("cuLaunchKernelEx"), "cuLaunchKernelEx");
  EXPECT_EQ(ApiFunctionName("cuMemAlloc_v2"), "cuMemAlloc_v2");  // part of the driver's name
  EXPECT_EQ(ApiFunctionName("cuda_v"), "cuda_v");
}

TEST(OverheadName, KnowsCuptisKindsAndTheDrivers) {
  EXPECT_EQ(OverheadName(1), "Driver Compiler");
  EXPECT_EQ(OverheadName(1U << 16), "Buffer Flush");
  EXPECT_EQ(OverheadName(6U << 16), "Command Buffer Full");
  EXPECT_EQ(OverheadName(0), "Unknown");
  EXPECT_EQ(OverheadName(77U << 16), "Unknown (5046272)");
  EXPECT_EQ(OverheadName(65537), "Unknown (65537)");
}

TEST(JitName, TellsWhatWasDone) {
  EXPECT_EQ(JitName(3, 1), "JIT compile (PTX to cubin)");
  EXPECT_EQ(JitName(1, 0), "JIT cache load");
  EXPECT_EQ(JitName(9, 9), "JIT");
}

TEST(MemoryKindName, IsAbsentWhereItIsNotTold) {
  EXPECT_EQ(MemoryKindName(0), std::nullopt);
  EXPECT_EQ(MemoryKindName(1), "pageable");
  EXPECT_EQ(MemoryKindName(7), "managed_static");
  EXPECT_EQ(MemoryKindName(8), std::nullopt);
}

}  // namespace
}  // namespace tutti::collector::convert::cupti
