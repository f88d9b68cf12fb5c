#include "analyzer/metrics/memory_curve.h"

#include <algorithm>

namespace tutti::analyzer {

std::vector<MemorySpan> MemoryCurve(std::span<const MemorySample> samples, size_t most_spans) {
  std::vector<MemorySpan> curve;
  if (samples.empty() || most_spans == 0) return curve;
  const int64_t begin = samples.front().time_ns;
  const int64_t end = samples.back().time_ns + 1;  // half-open: the last sample is inside
  const auto spans = static_cast<int64_t>(most_spans);
  const int64_t length = (end - begin + spans - 1) / spans;
  size_t next = 0;
  int64_t bytes = samples.front().bytes;
  for (int64_t t = begin; t < end; t += length) {
    MemorySpan span{{t, std::min(t + length, end)}, bytes, bytes};
    if (next < samples.size() && samples[next].time_ns == t) span.max_bytes = samples[next].bytes;
    for (; next < samples.size() && samples[next].time_ns < span.time.end_ns; ++next) {
      bytes = samples[next].bytes;
      span.max_bytes = std::max(span.max_bytes, bytes);
    }
    span.last_bytes = bytes;
    curve.push_back(span);
  }
  return curve;
}

}  // namespace tutti::analyzer
