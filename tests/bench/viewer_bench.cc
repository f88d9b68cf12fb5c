// Ten million events on eight ranks, or as many as are asked for: how long the viewer takes to
// index them, to build a frame of its scene while a person pans and zooms, and to search; how many
// bytes an event takes. Prints JSON. CPU time of the one thread that works.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/bench/viewer_run.h"

namespace tutti::viewer::bench {
namespace {

std::vector<double> SceneMs(State* state) {
  std::vector<double> ms;
  for (int frame = 0; frame < kFrames; ++frame) {
    Move(state, frame);
    const double begin = CpuSeconds();
    state->scene();
    ms.push_back((CpuSeconds() - begin) * 1e3);
  }
  std::sort(ms.begin(), ms.end());
  return ms;
}

int Main(size_t wanted) {
  Run run = MakeRun(wanted);
  int64_t events = 0;
  size_t bytes = 0;
  for (const auto& rank : run.ranks) {
    events += rank->events();
    bytes += rank->bytes();
  }
  State state(std::make_unique<Session>(run.summary, run.names, run.ranks));
  state.SetSize(1700, 900);
  const std::vector<double> frames = SceneMs(&state);
  const double begin = CpuSeconds();
  state.Search("operator_25");
  const double search_s = CpuSeconds() - begin;
  std::printf(
      "{\"events\": %lld, \"bytes_per_event\": %.2f, \"index_s\": %.3f, \"search_s\": %.4f, "
      "\"frame_p50_ms\": %.3f, \"frame_p99_ms\": %.3f}\n",
      static_cast<long long>(events), static_cast<double>(bytes) / static_cast<double>(events),
      run.index_s, search_s, Quantile(frames, 0.5), Quantile(frames, 0.99));
  return 0;
}

}  // namespace
}  // namespace tutti::viewer::bench

int main(int argc, char** argv) {
  const long events = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 10'000'000;
  return events >= 1'000 ? tutti::viewer::bench::Main(static_cast<size_t>(events)) : 2;
}
