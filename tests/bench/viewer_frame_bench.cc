// The same frames as viewer_bench's, drawn: all that the interface's thread does until a graphics
// card would have work, panels included. Prints JSON: CPU time, vertices and draw commands a frame.
// Under callgrind, `--toggle-collect='tutti::viewer::bench::DrawFrames*'` counts the instructions
// of these frames alone.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/bench/viewer_run.h"
#include "viewer/testing/null_platform.h"

namespace tutti::viewer::bench {
namespace {

struct Drawn {
  std::vector<double> ms;  // sorted
  int most_vertices = 0;
  int64_t vertices = 0;  // of all frames
  int most_commands = 0;
};

__attribute__((noinline)) Drawn DrawFrames(State* state, testing::NullPlatform* platform) {
  Drawn drawn;
  for (int frame = 0; frame < kFrames; ++frame) {
    Move(state, frame);
    const double begin = CpuSeconds();
    platform->Frame();
    drawn.ms.push_back((CpuSeconds() - begin) * 1e3);
    const ImDrawData& data = *ImGui::GetDrawData();
    int commands = 0;
    for (const ImDrawList* list : data.CmdLists) commands += list->CmdBuffer.Size;
    drawn.vertices += data.TotalVtxCount;
    drawn.most_vertices = std::max(drawn.most_vertices, data.TotalVtxCount);
    drawn.most_commands = std::max(drawn.most_commands, commands);
  }
  std::sort(drawn.ms.begin(), drawn.ms.end());
  return drawn;
}

int Main(size_t events) {
  Run run = MakeRun(events);
  State state(std::make_unique<Session>(run.summary, run.names, run.ranks));
  Ui ui(&state, UiOptions{.scale = 1, .layout_file = ""});
  testing::NullPlatform platform(&ui, ImVec2(1920, 1080));
  for (int i = 0; i < 20; ++i) platform.Frame();
  const Drawn drawn = DrawFrames(&state, &platform);
  std::printf(
      "{\"frames\": %d, \"ui_p50_ms\": %.3f, \"ui_p99_ms\": %.3f, \"mean_vertices\": %lld, "
      "\"most_vertices\": %d, \"most_commands\": %d}\n",
      kFrames, Quantile(drawn.ms, 0.5), Quantile(drawn.ms, 0.99),
      static_cast<long long>(drawn.vertices / kFrames), drawn.most_vertices, drawn.most_commands);
  return 0;
}

}  // namespace
}  // namespace tutti::viewer::bench

int main(int argc, char** argv) {
  const long events = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 10'000'000;
  return events >= 1'000 ? tutti::viewer::bench::Main(static_cast<size_t>(events)) : 2;
}
