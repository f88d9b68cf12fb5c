#include "viewer/model/rank_trace.h"

namespace tutti::viewer {

int64_t Track::events() const {
  int64_t events = 0;
  for (const Lane& lane : lanes) events += lane.size();
  return events;
}

int64_t RankTrace::events() const {
  int64_t sum = 0;
  for (const Track& track : tracks) sum += track.events();
  return sum;
}

size_t RankTrace::bytes() const {
  size_t sum = 0;
  for (const Track& track : tracks) {
    for (const Lane& lane : track.lanes) sum += lane.bytes();
  }
  return sum;
}

}  // namespace tutti::viewer
