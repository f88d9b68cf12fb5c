#include "analyzer/metrics/rebucket.h"

#include <algorithm>
#include <cmath>

#include "analyzer/input/limits.h"

namespace tutti::analyzer {
namespace {

constexpr double kMebibyte = 1 << 20;
// Of a step: more than any model has parameters by far.
constexpr int64_t kMostBuckets = 1 << 20;

TransferCost Scaled(std::span<const SentBucket> sent, TransferCost cost) {
  double took_ns = 0;
  double modelled_ns = 0;
  for (const SentBucket& bucket : sent) {
    took_ns += static_cast<double>(bucket.transfer_ns);
    modelled_ns += cost.latency_ns + cost.ns_per_byte * static_cast<double>(bucket.bytes);
  }
  if (modelled_ns <= 0) return cost;
  const double scale = took_ns / modelled_ns;
  return {cost.latency_ns * scale, cost.ns_per_byte * scale, cost.host_ns};
}

// When the first so many bytes of gradients are ready, in so many buckets. Asked for more each
// time.
class Readiness {
 public:
  Readiness(std::span<const SentBucket> sent, int64_t first_ns, double host_ns)
      : sent_(sent), from_ns_(std::min(first_ns, sent.front().ready_ns)), host_ns_(host_ns) {}

  double At(int64_t bytes, int64_t buckets) {
    while (place_ + 1 < sent_.size() && bytes > before_bytes_ + sent_[place_].bytes) {
      before_bytes_ += sent_[place_].bytes;
      from_ns_ = sent_[place_].ready_ns;
      ++place_;
    }
    const SentBucket& bucket = sent_[place_];
    const double part = bucket.bytes == 0 ? 1
                                          : static_cast<double>(bytes - before_bytes_) /
                                                static_cast<double>(bucket.bytes);
    const double more = static_cast<double>(buckets) - (static_cast<double>(place_) + part);
    return static_cast<double>(from_ns_) + part * static_cast<double>(bucket.ready_ns - from_ns_) +
           more * host_ns_;
  }

 private:
  std::span<const SentBucket> sent_;
  size_t place_ = 0;
  int64_t before_bytes_ = 0;
  int64_t from_ns_;
  double host_ns_;
};

// A bucket is full with the parameter that reaches its size.
int64_t InWholeParameters(int64_t bytes, int64_t parameter_bytes) {
  if (parameter_bytes <= 0) return bytes;
  return (bytes - 1) / parameter_bytes * parameter_bytes + parameter_bytes;
}

}  // namespace

BucketSizes BucketSizesOf(double bucket_mib) {
  const auto bytes = static_cast<int64_t>(
      std::clamp(bucket_mib * kMebibyte, 1.0, static_cast<double>(kMostBytes)));
  return {std::min<int64_t>(bytes, 1 << 20), bytes};
}

std::vector<int64_t> TransfersInBuckets(std::span<const SentBucket> sent, int64_t first_ns,
                                        TransferCost cost, BucketSizes sizes,
                                        int64_t parameter_bytes) {
  std::vector<int64_t> transfers_ns;
  if (sent.empty()) return transfers_ns;
  const TransferCost scaled = Scaled(sent, cost);
  int64_t total_bytes = 0;
  for (const SentBucket& bucket : sent) total_bytes = SaturatingAdd(total_bytes, bucket.bytes);
  for (int64_t* bytes : {&sizes.first_bytes, &sizes.bytes}) {
    *bytes = InWholeParameters(std::max(*bytes, total_bytes / kMostBuckets), parameter_bytes);
  }

  Readiness readiness(sent, first_ns, scaled.host_ns);
  int64_t buckets = 0;     // new ones
  int64_t done_bytes = 0;  // of whole new buckets
  double done_ns = static_cast<double>(std::min(first_ns, sent.front().ready_ns));
  int64_t sent_bytes = 0;
  double before_ns = done_ns;
  for (const SentBucket& bucket : sent) {
    sent_bytes = SaturatingAdd(sent_bytes, bucket.bytes);
    while (done_bytes < sent_bytes) {
      const int64_t most_bytes = done_bytes == 0 ? sizes.first_bytes : sizes.bytes;
      const int64_t bytes = std::min(most_bytes, total_bytes - done_bytes);
      if (bytes > sent_bytes - done_bytes) break;
      done_bytes += bytes;
      done_ns = std::max(done_ns, readiness.At(done_bytes, ++buckets)) + scaled.latency_ns +
                scaled.ns_per_byte * static_cast<double>(bytes);
    }
    const double begin_ns = std::max(before_ns, static_cast<double>(bucket.ready_ns));
    transfers_ns.push_back(std::max<int64_t>(std::llround(done_ns - begin_ns), 0));
    before_ns = std::max(begin_ns, done_ns);
  }
  return transfers_ns;
}

}  // namespace tutti::analyzer
