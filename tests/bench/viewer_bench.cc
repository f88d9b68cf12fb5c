// Ten million events on eight ranks: how long the viewer takes to index them, to build a frame
// of its scene while a person pans and zooms, and to search; how many bytes an event takes.
// Prints JSON. CPU time of the one thread that works.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#include "viewer/app/state.h"
#include "viewer/model/lane_builder.h"

namespace tutti::viewer {
namespace {

constexpr uint32_t kRanks = 8;
constexpr int64_t kStepNs = 20'000'000;
constexpr size_t kCallsARank = 850'000;    // on a thread, nested three deep
constexpr size_t kKernelsARank = 400'000;  // on two streams

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// As operators call each other: a third outermost, each with two inside.
std::vector<Event> Calls(uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Event> events;
  int64_t now = 0;
  while (events.size() < kCallsARank) {
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

std::vector<Event> Kernels(uint32_t seed, Category category) {
  std::mt19937_64 random(seed);
  std::vector<Event> events;
  int64_t now = 0;
  while (events.size() < kKernelsARank / 2) {
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

Track TrackOf(TrackKind kind, int64_t id, std::vector<Event> events) {
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

Run MakeRun() {
  Run run;
  for (int i = 0; i < 260; ++i) run.names->Intern("operator_" + std::to_string(i));
  for (uint32_t slot = 0; slot < kRanks; ++slot) {
    auto trace = std::make_shared<RankTrace>();
    std::vector<Event> calls = Calls(slot);
    std::vector<Event> compute = Kernels(100 + slot, Category::kCompute);
    std::vector<Event> comm = Kernels(200 + slot, Category::kCommunication);
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

// 600 frames as a person would make them: in to a microsecond, along, out, down the rows.
std::vector<double> FrameMs(State* state) {
  std::vector<double> ms;
  for (int frame = 0; frame < 600; ++frame) {
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
    const double begin = CpuSeconds();
    state->scene();
    ms.push_back((CpuSeconds() - begin) * 1e3);
  }
  std::sort(ms.begin(), ms.end());
  return ms;
}

int Main() {
  Run run = MakeRun();
  int64_t events = 0;
  size_t bytes = 0;
  for (const auto& rank : run.ranks) {
    events += rank->events();
    bytes += rank->bytes();
  }
  State state(std::make_unique<Session>(run.summary, run.names, run.ranks));
  state.SetSize(1700, 900);
  const std::vector<double> frames = FrameMs(&state);
  const double begin = CpuSeconds();
  state.Search("operator_25");
  const double search_s = CpuSeconds() - begin;
  std::printf(
      "{\"events\": %lld, \"bytes_per_event\": %.2f, \"index_s\": %.3f, \"search_s\": %.4f, "
      "\"frame_p50_ms\": %.3f, \"frame_p99_ms\": %.3f}\n",
      static_cast<long long>(events), static_cast<double>(bytes) / static_cast<double>(events),
      run.index_s, search_s, frames[frames.size() / 2], frames[frames.size() * 99 / 100]);
  return 0;
}

}  // namespace
}  // namespace tutti::viewer

int main() { return tutti::viewer::Main(); }
