#include "viewer/model/lane_builder.h"

#include <algorithm>
#include <tuple>

namespace tutti::viewer {
namespace {

// The first lane that is free for `event`, below the one whose last event contains it.
size_t LaneFor(const Event& event, const std::vector<int64_t>& lane_ends) {
  size_t lane = 0;
  for (size_t i = lane_ends.size(); i-- > 0;) {
    if (lane_ends[i] > event.begin_ns && lane_ends[i] >= event.end_ns) {
      lane = i + 1;
      break;
    }
  }
  while (lane < lane_ends.size() && lane_ends[lane] > event.begin_ns) ++lane;
  return lane;
}

}  // namespace

std::vector<Lane> BuildLanes(std::vector<Event> events) {
  // Of those that begin together, the longer one contains the other.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.begin_ns, -a.end_ns, a.row_id) <
           std::tuple(b.begin_ns, -b.end_ns, b.row_id);
  });
  std::vector<int64_t> lane_ends;
  std::vector<std::vector<Event>> rows;
  for (const Event& event : events) {
    const size_t lane = LaneFor(event, lane_ends);
    if (lane == rows.size()) {
      rows.emplace_back();
      lane_ends.push_back(0);
    }
    rows[lane].push_back(event);
    lane_ends[lane] = event.end_ns;
  }
  events = std::vector<Event>();
  std::vector<Lane> lanes;
  lanes.reserve(rows.size());
  for (std::vector<Event>& row : rows) {
    lanes.emplace_back(row);
    row = std::vector<Event>();
  }
  return lanes;
}

}  // namespace tutti::viewer
