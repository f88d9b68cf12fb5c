#include "analyzer/metrics/launch_queue.h"

#include <algorithm>
#include <map>

namespace tutti::analyzer {
namespace {

// Calls function(from, until, length) for each stretch of equal length.
template <typename Function>
void ForEachStretch(std::span<const QueueLength> lengths, Function function) {
  for (size_t i = 0; i + 1 < lengths.size(); ++i) {
    function(lengths[i].time_ns, lengths[i + 1].time_ns, lengths[i].length);
  }
}

}  // namespace

std::vector<LaunchWait> LaunchWaits(std::span<const LaunchedPiece> pieces,
                                    std::span<const Interval> stream) {
  std::vector<LaunchWait> waits;
  size_t next = 0;
  int64_t busy_until_ns = 0;  // latest end of the stream's work that began before the piece
  bool any_before = false;
  for (const LaunchedPiece& piece : pieces) {
    for (; next < stream.size() && stream[next].begin_ns < piece.work.begin_ns; ++next) {
      busy_until_ns =
          any_before ? std::max(busy_until_ns, stream[next].end_ns) : stream[next].end_ns;
      any_before = true;
    }
    LaunchWait wait;
    wait.delay_ns = std::max<int64_t>(0, piece.work.begin_ns - piece.call.end_ns);
    if (any_before) {
      const int64_t waited_until_ns = std::min(busy_until_ns, piece.work.begin_ns);
      wait.queue_ns = std::max<int64_t>(0, waited_until_ns - piece.call.end_ns);
    }
    wait.skew_ns = std::max<int64_t>(0, piece.call.begin_ns - piece.work.begin_ns);
    waits.push_back(wait);
  }
  return waits;
}

std::vector<QueueLength> QueueLengths(std::span<const LaunchedPiece> pieces) {
  std::vector<int64_t> up;
  std::vector<int64_t> down;
  for (const LaunchedPiece& piece : pieces) {
    up.push_back(std::min(piece.call.begin_ns, piece.work.begin_ns));
    down.push_back(piece.work.begin_ns);
  }
  std::sort(up.begin(), up.end());
  std::sort(down.begin(), down.end());
  std::vector<QueueLength> lengths;
  lengths.reserve(up.size() * 2);
  int64_t length = 0;
  for (size_t u = 0, d = 0; d < down.size();) {
    const bool goes_up = u < up.size() && up[u] <= down[d];
    length += goes_up ? 1 : -1;
    lengths.push_back({goes_up ? up[u++] : down[d++], length});
  }
  return lengths;
}

QueueSummary SummarizeQueue(std::span<const QueueLength> lengths) {
  QueueSummary summary;
  std::map<int64_t, int64_t> time_ns;  // by length
  double weighted = 0;
  int64_t total_ns = 0;
  ForEachStretch(lengths, [&](int64_t from_ns, int64_t until_ns, int64_t length) {
    time_ns[length] += until_ns - from_ns;
    weighted += static_cast<double>(length) * static_cast<double>(until_ns - from_ns);
    total_ns += until_ns - from_ns;
    if (length >= kFullQueue) summary.full_ns += until_ns - from_ns;
  });
  for (const QueueLength& entry : lengths) {
    summary.max_length = std::max(summary.max_length, entry.length);
  }
  if (total_ns == 0) return summary;
  summary.mean_length = weighted / static_cast<double>(total_ns);
  int64_t so_far_ns = 0;
  for (const auto& [length, ns] : time_ns) {
    so_far_ns += ns;
    if (so_far_ns * 2 < total_ns) continue;
    summary.p50_length = length;
    break;
  }
  return summary;
}

std::vector<QueueSpan> QueueTimeline(std::span<const QueueLength> lengths, int64_t spans) {
  std::vector<QueueSpan> timeline;
  if (lengths.size() < 2) return timeline;
  const int64_t begin_ns = lengths.front().time_ns;
  const int64_t total_ns = lengths.back().time_ns - begin_ns;
  if (total_ns <= 0) return timeline;
  const int64_t width_ns = (total_ns + spans - 1) / spans;
  size_t next = 0;
  int64_t length = 0;
  for (int64_t at_ns = 0; at_ns < total_ns; at_ns += width_ns) {
    QueueSpan span{{begin_ns + at_ns, begin_ns + std::min(at_ns + width_ns, total_ns)}, length};
    for (; next < lengths.size() && lengths[next].time_ns < span.time.end_ns; ++next) {
      length = lengths[next].length;
      span.max_length = std::max(span.max_length, length);
    }
    timeline.push_back(span);
  }
  return timeline;
}

}  // namespace tutti::analyzer
