// Random events of every awkward kind, the same for the same seed. For tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "viewer/model/event.h"

namespace tutti::viewer::testing {

struct EventMix {
  int64_t first_ns = 0;
  int64_t longest_gap_ns = 50;
  int64_t longest_ns = 100;
  uint32_t names = 5;
};

// Events that do not overlap, in order of time: zero-length ones, ones that touch, and one in a
// hundred a thousand times longer than the rest.
inline std::vector<Event> LaneEvents(uint32_t seed, size_t count, const EventMix& mix = {}) {
  std::mt19937_64 random(seed);
  const auto at_most = [&](int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1));
  };
  std::vector<Event> events;
  int64_t time = mix.first_ns;
  for (size_t i = 0; i < count; ++i) {
    time += at_most(4) == 0 ? 0 : at_most(mix.longest_gap_ns);
    const int64_t duration = at_most(99) == 0  ? at_most(mix.longest_ns * 1000)
                             : at_most(9) == 0 ? 0
                                               : at_most(mix.longest_ns);
    const auto name = static_cast<uint32_t>(at_most(mix.names - 1));
    events.push_back({.begin_ns = time,
                      .end_ns = time + duration,
                      .name = name,
                      .row_id = static_cast<uint32_t>(i),
                      .category = static_cast<Category>(name % kCategories),
                      .source = Source::kKernel});
    time += duration;
  }
  return events;
}

// Events that nest, touch and overlap in any way.
inline std::vector<Event> TangledEvents(uint32_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Event> events;
  for (size_t i = 0; i < count; ++i) {
    const auto begin = static_cast<int64_t>(random() % (4 * count)) - static_cast<int64_t>(count);
    const auto duration = static_cast<int64_t>(random() % 40);
    events.push_back({.begin_ns = begin,
                      .end_ns = begin + duration,
                      .name = static_cast<uint32_t>(random() % 7),
                      .row_id = static_cast<uint32_t>(i)});
  }
  return events;
}

}  // namespace tutti::viewer::testing
