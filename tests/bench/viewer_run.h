// Ten million events on eight ranks, or another number: what the viewer's benchmarks look at.
#pragma once

#include <time.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "viewer/app/state.h"
#include "viewer/model/lane_builder.h"

namespace tutti::viewer::bench {

constexpr uint32_t kRanks = 8;
constexpr int64_t kStepNs = 20'000'000;
// Of a million events of a rank, so many are calls of a thread, nested three deep; the others run
// on two streams.
constexpr double kCallShare = 0.68;

inline double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// As operators call each other: a third outermost, each with two inside.
inline std::vector<Event> Calls(uint32_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Event> events;
  int64_t now = 0;
  events.reserve(count + 3);
  while (events.size() < count) {
    now += static_cast<int64_t>(random() % 3'000);
    const auto length = static_cast<int64_t>(3'000 + random() % 20'000);
    for (int64_t depth = 0; depth < 3; ++depth) {
      events.push_back({.begin_ns = now + 500 * depth,
                        .end_ns = now + length - 500 * depth,
                        .name = static_cast<NameId>(random() % 200),
                        .row_id = static_cast<uint32_t>(events.size()),
                        .category = Category::kHost});
    }
    now += length;
  }
  return events;
}

inline std::vector<Event> Kernels(uint32_t seed, Category category, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Event> events;
  int64_t now = 0;
  events.reserve(count);
  while (events.size() < count) {
    now += static_cast<int64_t>(random() % 4'000);
    const auto length = static_cast<int64_t>(1'000 + random() % 30'000);
    events.push_back({.begin_ns = now,
                      .end_ns = now + length,
                      .name = static_cast<NameId>(200 + random() % 60),
                      .row_id = static_cast<uint32_t>(events.size()),
                      .category = category,
                      .source = Source::kKernel});
    now += length;
  }
  return events;
}

inline Track TrackOf(TrackKind kind, int64_t id, std::vector<Event> events) {
  Track track;
  track.kind = kind;
  track.device = kind == TrackKind::kStream ? 0 : -1;
  track.id = id;
  track.label = "track " + std::to_string(id);
  track.lanes = BuildLanes(std::move(events));
  return track;
}

struct Run {
  RunSummary summary;
  std::shared_ptr<NameTable> names = std::make_shared<NameTable>();
  RankTraces ranks;
  double index_s = 0;
};

inline Run MakeRun(size_t events) {
  Run run;
  const size_t of_rank = events / kRanks;
  const auto calls_of_rank = static_cast<size_t>(kCallShare * static_cast<double>(of_rank));
  const size_t kernels = (of_rank - calls_of_rank) / 2;
  for (int i = 0; i < 260; ++i) run.names->Intern("operator_" + std::to_string(i));
  for (uint32_t slot = 0; slot < kRanks; ++slot) {
    auto trace = std::make_shared<RankTrace>();
    std::vector<Event> calls = Calls(slot, calls_of_rank);
    std::vector<Event> compute = Kernels(100 + slot, Category::kCompute, kernels);
    std::vector<Event> comm = Kernels(200 + slot, Category::kCommunication, kernels);
    run.summary.end_ns = std::max(run.summary.end_ns, calls.back().end_ns);
    const double begin = CpuSeconds();
    trace->tracks.push_back(TrackOf(TrackKind::kStream, 7, std::move(compute)));
    trace->tracks.push_back(TrackOf(TrackKind::kStream, 20, std::move(comm)));
    trace->tracks.push_back(TrackOf(TrackKind::kThread, 100, std::move(calls)));
    run.index_s += CpuSeconds() - begin;
    run.ranks.push_back(std::move(trace));
    run.summary.ranks.push_back({.rank = slot, .host = "node", .end_ns = run.summary.end_ns});
    run.summary.traces.emplace_back();
  }
  for (int64_t step = 0; step * kStepNs < run.summary.end_ns; ++step) {
    run.summary.steps.push_back(
        {.step = step, .number = step, .begin_ns = step * kStepNs, .end_ns = (step + 1) * kStepNs});
  }
  return run;
}

// The next of 600 frames as a person would make them: in to a microsecond, along, out, down the
// rows.
inline void Move(State* state, int frame) {
  const int part = frame % 200;
  if (part < 70) {
    state->ZoomAt(700 + 100 * std::sin(frame), 0.86);
  } else if (part < 120) {
    state->PanBy(35);
  } else if (part < 190) {
    state->ZoomAt(600, 1 / 0.86);
  } else {
    state->ScrollTo(state->scroll_y() + 40);
  }
}
inline constexpr int kFrames = 600;

inline double Quantile(const std::vector<double>& sorted, double q) {
  return sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1))];
}

}  // namespace tutti::viewer::bench
