#include "analyzer/findings/catalogue.h"

#include <array>

namespace tutti::analyzer {
namespace {

constexpr std::array<CatalogueEntry, 41> kCatalogue = {{
    {1, "loader stall", "input_wait", "workers from the time a batch takes and the step without",
     "Findings.ASlowLoaderOnAllRanksNamesThemAll"},
    {2, "workers too few", "input_wait", "num_workers a -> b",
     "Findings.AdviceHasAValueWhereTheTraceTellsIt"},
    {3, "stall at the start of an epoch", "input_wait", "steps that stall, the longest",
     "Findings.StallsAtTheStartOfEpochsAreFoundThoughTheMedianStepDoesNotWait"},
    {4, "pageable copy", "pageable_copy", "copies a step, their size and bandwidth, that of pinned",
     "DeviceFindings.ExposedCopiesAreToldApart"},
    {5, "copy beside nothing", "exposed_copy", "copies a step, the compute that could hide them",
     "DeviceFindings.ExposedCopiesAreToldApart"},
    {6, "storm of copies", "copy_storm", "copies a step, the size of one instead of all",
     "DeviceFindings.ExposedCopiesAreToldApart"},
    {7, "launch-bound", "launch_bound", "kernels a step and their mean; how often a batch fits",
     "DeviceFindings.AHostThatLaunchesLateIsLaunchBound"},
    {8, "tiny kernels or operators", "tiny_kernels, tiny_operators", "their number and mean",
     "DeviceFindings.KernelsShorterThanTheirLaunchesAreTiny"},
    {9, "synchronisation", "sync_points", "the call, its number, its line; every tenth step",
     "DeviceFindings.TheGapAfterASynchronisationIsItsFaultNotTheLaunches"},
    {10, "false serialization", "false_serialization", "what could run at once",
     "DeviceFindings.TheDefaultStreamBetweenTwoOthersSerializesThem"},
    {11, "churn of device or host memory", "device_alloc_churn, host_alloc_churn",
     "calls or bytes a step", "DeviceFindings.AllocationsInEveryStepAreChurn"},
    {12, "churn of pinned memory", "pinned_alloc_churn", "calls a step",
     "DeviceFindings.AllocationsInEveryStepAreChurn"},
    {13, "contention for cores", "cpu_contention, straggler, host_bound",
     "waiting a step, who uses how many cores", "Catalogue.ARankThatWaitsForACoreIsContended"},
    {14, "pause: collection, checkpoint, log", "pauses, checkpoints, host_bound",
     "how many steps, the longest, every how many steps", "Catalogue.PausesAreChargedOnce"},
    {15, "warm-up", "warm_up", "steps and time in all", "Catalogue.AWarmUpThatTakesLong"},
    {16, "shapes that change", "shape_churn", "share of steps, the usual size and the largest",
     "Catalogue.BatchesThatChangeTheirSize"},
    {17, "no tensor cores", "no_tensor_cores", "share of compute, its time",
     "DeviceFindings.MatrixWorkWithoutTensorCores"},
    {18, "GPU underfilled", "gpu_underfilled", "how much more work fits",
     "DeviceFindings.KernelsOfFewBlocksLeaveTheGpuEmpty"},
    {19, "shapes of products", "gemm_shape", "time of the last waves",
     "DeviceFindings.AProductsLastWaveLeavesTheGpuEmpty"},
    {20, "elementwise kernels not fused", "unfused_elementwise", "their number and time",
     "DeviceFindings.ManyElementwiseKernels"},
    {21, "layout conversion", "layout_conversion", "their number and time",
     "DeviceFindings.KernelsThatOnlyMoveData"},
    {22, "needless recomputation", "recompute", "forward's time in backward, memory at its peak",
     "Catalogue.AForwardThatRunsAgainInBackward"},
    {23, "exposed communication", "comm_after_backward, exposed_comm",
     "what four micro-batches save; what could be hidden",
     "Findings.CommunicationOnlyAfterBackwardCouldHaveBeenHidden"},
    {24, "small buckets", "small_buckets", "bucket_cap_mb a -> b, collectives saved, latency",
     "HostFindings.ManySmallBuckets"},
    {25, "one late bucket", "single_bucket", "bucket_cap_mb a -> b, the best of those replayed",
     "Catalogue.AllGradientsInOneBucket"},
    {26, "low bus bandwidth", "low_bandwidth", "GB/s, the reference and where it is from",
     "DeviceFindings.CollectivesThatMissTheirLinkAreSlow"},
    {27, "Gloo on GPUs", "gloo_on_gpu", "MiB a step", "Catalogue.GpusThatCommunicateOverGloo"},
    {28, "DataParallel", "data_parallel", "GPUs of the process, copies a step",
     "Catalogue.OneProcessThatDrivesTwoGpus"},
    {29, "SyncBatchNorm", "forward_collectives", "collectives a step",
     "HostFindings.ManySmallCollectivesInForward"},
    {30, "needless barrier", "barrier", "barriers a step; every hundredth step",
     "HostFindings.BarriersInEveryStep"},
    {31, "compute beside communication", "compute_contention", "kernels a step, what they lose",
     "DeviceFindings.KernelsThatTakeLongerBesideCollectivesAreContended"},
    {32, "straggler", "straggler", "how often last, by which part and how much",
     "Findings.ExtraComputeOnOneRankIsAStraggler"},
    {33, "slow GPU", "slow_gpu", "ratio, why its clocks were lowered",
     "DeviceFindings.AGpuThatTakesLongerForTheSameKernelsIsSlow"},
    {34, "imbalance of data", "data_imbalance", "how much batches differ, the largest ranks",
     "HostFindings.BatchesOfDifferentSize"},
    {35, "pipeline bubble", "pipeline_bubble, pipeline_imbalance",
     "micro-batches a -> b; how far the slowest stage is off",
     "Catalogue.PipelineStagesThatStandIdle"},
    {36, "skewed experts", "skewed_experts", "who has how much more than the mean",
     "Catalogue.AllToAllsOfWhichOneRankHasMost"},
    {37, "desync, hang", "hang, collective_mismatch",
     "who is missing where, what it did last; who differs by what",
     "Findings.AHangNamesTheRankThatNeverEnteredAndWhatItDid"},
    {38, "near the end of memory", "near_oom", "MiB, share, failed allocations",
     "DeviceFindings.ANearlyFullGpuIsARiskAndStopsNothing"},
    {39, "fragmentation", "fragmentation", "MiB in how many parts, the largest",
     "Catalogue.MemoryThatIsFreeInPartsOnly"},
    {40, "batch too small", "launch_bound, gpu_underfilled",
     "how often the batch fits into memory; how much more work the GPU takes",
     "DeviceFindings.ALargerBatchIsAdvisedWhereMemoryIsFree"},
    {41, "leak", "memory_leak", "KiB a step, steps until the GPU is full",
     "HostFindings.MemoryThatGrowsCostsNothingYet"},
}};

constexpr GeneralAdvice kGeneral[] = {
    {"mixed precision (bf16, TF32)", "no_tensor_cores; near_oom"},
    {"gradient accumulation", "exposed_comm, with what it saves; near_oom"},
    {"gradient compression (bf16 hook, PowerSGD)", "exposed_comm"},
    {"a larger batch",
     "launch_bound, tiny_kernels (how often it fits), gpu_underfilled, "
     "exposed_comm, forward_collectives"},
    {"uneven batches for uneven ranks", "data_imbalance"},
    {"fused or foreach optimizers (AdamW(fused=True))",
     "tiny_kernels, tiny_operators, "
     "unfused_elementwise"},
    {"prefetch, more workers, persistent workers", "input_wait"},
    {"pinned memory, non-blocking copies", "pageable_copy, pinned_alloc_churn"},
    {"DataParallel -> DistributedDataParallel", "data_parallel"},
    {"Gloo -> NCCL on GPUs", "gloo_on_gpu"},
    {"activation checkpointing, ZeRO, FSDP", "near_oom; less of it: recompute"},
    {"pruning, quantisation",
     "where nothing else is left: a report without a finding says so of "
     "steps that compute for four fifths of their time"},
    {"system settings (huge pages, CPU frequency, shared memory, NUMA)",
     "`tutti doctor`; cpu_contention, low_bandwidth, slow_gpu name the command to run"},
};

}  // namespace

std::span<const CatalogueEntry> Catalogue() { return kCatalogue; }
std::span<const GeneralAdvice> AllGeneralAdvice() { return kGeneral; }

std::string CatalogueTables() {
  std::string text =
      "\n## The catalogue\n\n"
      "Which finding tells each of the 41 causes, and what it computes from the trace.\n\n"
      "| # | cause | told as | values |\n|---|---|---|---|\n";
  for (const CatalogueEntry& entry : kCatalogue) {
    text += "| " + std::to_string(entry.number) + " | " + std::string(entry.cause) + " | " +
            std::string(entry.kinds) + " | " + std::string(entry.value) + " |\n";
  }
  text +=
      "\n## General advice\n\n"
      "What engineers usually try first is told where the trace shows that it would pay.\n\n"
      "| advice | told by |\n|---|---|\n";
  for (const GeneralAdvice& advice : kGeneral) {
    text += "| " + std::string(advice.advice) + " | " + std::string(advice.when) + " |\n";
  }
  return text;
}

}  // namespace tutti::analyzer
