// What the GPU of gpu_job.cc does in each step, in microseconds from the step's begin:
//
//   stream  7  gemm       [500 ============= 4500)                 [7500 = 8000 = 8500 = 9000)
//   graph stream 20  all_reduce            [3500 ========== 6500) stream 13  copies     [500 ==
//   1500)                     [7000 = 7500)
//
// Work 5500, communication 3000 of which 2000 hide behind nothing, copies 1500 of which 500 do.
#pragma once

#include <cstdint>

namespace tutti::e2e {

struct Span {
  double begin_us;
  double end_us;
};

inline constexpr int64_t kSteps = 12;
inline constexpr double kStepUs = 10'000;
inline constexpr Span kGemm = {500, 4'500};
inline constexpr Span kAllReduce = {3'500, 6'500};
inline constexpr Span kHiddenCopy = {500, 1'500};
inline constexpr Span kExposedCopy = {7'000, 7'500};
inline constexpr Span kGraphNodes[] = {{7'500, 8'000}, {8'000, 8'500}, {8'500, 9'000}};
inline constexpr uint64_t kGraphNodeCount = 3;
inline constexpr uint64_t kCopyBytes = 1 << 20;

inline constexpr uint32_t kComputeStream = 7;
inline constexpr uint32_t kCopyStream = 13;
inline constexpr uint32_t kNcclStream = 20;

}  // namespace tutti::e2e
