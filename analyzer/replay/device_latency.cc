#include "analyzer/replay/device_latency.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/metrics/percentile.h"

namespace tutti::analyzer {

DeviceLatency LatencyOf(std::span<const DeviceEvent> events, std::span<const ApiEvent> calls) {
  std::map<std::pair<int64_t, int64_t>, int64_t> end_of_stream;
  std::vector<int64_t> launch_ns;
  std::vector<int64_t> stream_ns;
  for (const DeviceEvent& event : events) {
    const auto [last, is_first] =
        end_of_stream.try_emplace({event.device_id, event.stream_id}, event.end_ns);
    if (event.launch >= 0) {
      const ApiEvent& call = calls[static_cast<size_t>(event.launch)];
      if (event.begin_ns >= call.begin_ns && (is_first || last->second <= call.begin_ns)) {
        launch_ns.push_back(event.begin_ns - call.begin_ns);
      } else if (!is_first && call.end_ns <= last->second && event.begin_ns >= last->second) {
        stream_ns.push_back(event.begin_ns - last->second);
      }
    }
    last->second = std::max(last->second, event.end_ns);
  }
  DeviceLatency latency;
  latency.launch_ns = MedianOf(std::move(launch_ns)).value_or(latency.launch_ns);
  latency.stream_ns = MedianOf(std::move(stream_ns)).value_or(latency.stream_ns);
  return latency;
}

}  // namespace tutti::analyzer
