// Data parallelism in C++: what torch.nn.parallel.DistributedDataParallel does around a model.
#ifndef TUTTI_WORKLOADS_COMMON_DATA_PARALLEL_H_
#define TUTTI_WORKLOADS_COMMON_DATA_PARALLEL_H_

#include <cstdint>
#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <vector>

namespace tutti::workloads {

// Keeps the ranks' parameters equal: all-reduces gradients in buckets while backward still
// runs (c10d::Reducer). One thread, the one that trains. Errors are thrown by LibTorch.
class DataParallel {
 public:
  // Most bytes of gradients in a bucket, and in the first to be ready.
  struct BucketCaps {
    int64_t first_bytes;
    int64_t bytes;
  };

  // DistributedDataParallel's: a small first bucket, so that communication starts early.
  static BucketCaps CapsOf(int64_t bucket_bytes);

  // Broadcasts rank 0's parameters to all ranks. Gradients travel as |type| (float, half or
  // bfloat16).
  DataParallel(std::vector<at::Tensor> parameters, c10::intrusive_ptr<c10d::ProcessGroup> group,
               BucketCaps caps, at::ScalarType type = at::kFloat);

  // At the start of a step. Rebuilds the buckets once, in the order in which gradients came.
  void BeforeForward();

  // Between forward and backward; without it backward only computes local gradients.
  void BeforeBackward(const at::Tensor& loss);

  // After a backward of local gradients: all-reduces them now, bucket by bucket, and waits. For
  // the fault late_allreduce; the sums are the same, only their overlap is lost. Uncompressed.
  void AllReduceNow();

  // For the fault mismatched_size: instead of the step's first all-reduce, one of |percent| of
  // its elements. Waits for it, which ends as the backend takes such a thing: with an exception,
  // or when others have left.
  void AllReduceShare(int64_t percent);

  // Number of gradient buckets, each one all-reduce a step. Valid after the first backward.
  size_t buckets() const;

 private:
  std::vector<at::Tensor> parameters_;
  c10::intrusive_ptr<c10d::ProcessGroup> group_;
  std::vector<std::vector<size_t>> bucket_indices_;
  std::unique_ptr<c10d::Reducer> reducer_;
};

// A hash of the parameters' bits.
uint64_t Checksum(const std::vector<at::Tensor>& parameters);

// |value| of every rank, by an all-gather on |device|.
std::vector<int64_t> AllGather(c10d::ProcessGroup& group, int64_t value, at::Device device);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_DATA_PARALLEL_H_
