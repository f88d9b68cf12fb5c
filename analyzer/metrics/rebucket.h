// How long gradients take in buckets of another size than they were sent in.
//
//   gradients  ......a..b..c..d..e..f     ready one after another while backward goes on
//   as sent          [abc) when c is ready, [def) when f is
//   in smaller       [a)[b)[c)..., each when it is ready and the one before has been sent
//
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tutti::analyzer {

// A bucket of a step as it was sent.
struct SentBucket {
  int64_t ready_ns = 0;  // all ranks have its gradients
  int64_t bytes = 0;
  int64_t transfer_ns = 0;
};

// What sending takes: a latency, and time for each byte. And what handing a bucket over takes the
// host, which goes on with backward only then.
struct TransferCost {
  double latency_ns = 0;
  double ns_per_byte = 0;
  double host_ns = 0;
};

// Most bytes of the first bucket to be ready, and of each other.
struct BucketSizes {
  int64_t first_bytes = 0;
  int64_t bytes = 0;
};
// DistributedDataParallel's for bucket_cap_mb: a small first one, so that sending starts early.
BucketSizes BucketSizesOf(double bucket_mib);

// Transfers in place of the sent ones, so that after each of them, or later where its bucket is
// a larger one's part, its data is there as it would be with buckets of `sizes`. `cost` is
// scaled so that the sent ones take what they took. Buckets are of whole parameters, all of
// `parameter_bytes`, 0 if that is unknown. Gradients are taken to become ready evenly
// between the bucket before (the first: `first_ns`, when the step's first gradient was) and their
// own, later by what more buckets than were sent until then take the host. `sent` in the order of
// ready times; sizes are positive. O(buckets sent + buckets of `sizes`).
std::vector<int64_t> TransfersInBuckets(std::span<const SentBucket> sent, int64_t first_ns,
                                        TransferCost cost, BucketSizes sizes,
                                        int64_t parameter_bytes = 0);

}  // namespace tutti::analyzer
