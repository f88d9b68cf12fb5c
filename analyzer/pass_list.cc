#include <array>

#include "analyzer/pass.h"

namespace tutti::analyzer {

extern const Pass kRunIndexPass;
extern const Pass kClockPass;
extern const Pass kLanesPass;
extern const Pass kStepWindowPass;
extern const Pass kCollectivePass;
extern const Pass kStepBreakdownPass;
extern const Pass kOverlapPass;
extern const Pass kBackwardPass;
extern const Pass kDataWaitPass;
extern const Pass kMemoryPass;
extern const Pass kOpStatsPass;
extern const Pass kDevicePass;
extern const Pass kKernelsPass;
extern const Pass kKernelUsePass;
extern const Pass kFlopsPass;
extern const Pass kLaunchesPass;
extern const Pass kCopiesPass;
extern const Pass kDeviceMetricsPass;
extern const Pass kThroughputPass;
extern const Pass kStragglerPass;
extern const Pass kWaitCausePass;
extern const Pass kSummaryPass;
extern const Pass kCallsPass;
extern const Pass kCommFitPass;
extern const Pass kParallelismPass;
extern const Pass kOutliersPass;
extern const Pass kMemoryTrendPass;
extern const Pass kReplayPass;
extern const Pass kFindingsPass;

std::span<const Pass> AllPasses() {
  static const std::array kPasses = {
      kRunIndexPass,      kClockPass,       kLanesPass,         kStepWindowPass, kCollectivePass,
      kStepBreakdownPass, kOverlapPass,     kBackwardPass,      kDataWaitPass,   kMemoryPass,
      kOpStatsPass,       kDevicePass,      kKernelsPass,       kKernelUsePass,  kFlopsPass,
      kLaunchesPass,      kCopiesPass,      kDeviceMetricsPass, kThroughputPass, kStragglerPass,
      kWaitCausePass,     kSummaryPass,     kCallsPass,         kCommFitPass,    kParallelismPass,
      kOutliersPass,      kMemoryTrendPass, kReplayPass,        kFindingsPass};
  return kPasses;
}

}  // namespace tutti::analyzer
