// A replay of the small run whose answers are known: two ranks, steps of 200 ns.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "viewer/replay.h"

namespace tutti::viewer::testing {

class ScriptedReplay : public Replay {
 public:
  static ReplayOpener Opener() {
    return []() -> Result<std::unique_ptr<Replay>> {
      return std::unique_ptr<Replay>(std::make_unique<ScriptedReplay>());
    };
  }

  Result<Prediction> Ask(const std::vector<std::string>& words) const override {
    int64_t saved_ns = 0;
    std::string text;
    for (const std::string& word : words) {
      if (word == "nonsense") return UsageError("nonsense: no scenario");
      if (word == "no-stragglers") saved_ns += 50;
      if (word.starts_with("bandwidth=")) saved_ns += 20;
      text += (text.empty() ? "" : "+") + word;
    }
    return Prediction{text, 200 - saved_ns, saved_ns};
  }
  std::vector<std::vector<std::string>> UsualQuestions() const override {
    return {{"no-copies"}, {"no-stragglers"}};
  }
  // Rank 1 computes, both move data, rank 0 computes.
  std::vector<PathPiece> CriticalPath() const override {
    return {{0, 0, "compute", "void Gemm<float>(int)", 0, 30},
            {1, 0, "compute", "void Gemm<float>(int)", 30, 160},
            {1, 0, "exposed_comm_transfer", "ncclAllReduce float 4 B", 160, 200},
            {0, 1, "compute", "void Gemm<float>(int)", 200, 290},
            {0, 1, "idle", "", 290, 400}};
  }
  std::vector<EventSlack> Slacks() const override {
    return {{0, 110, 50}, {0, 200, 0}, {1, 160, 0}, {1, 200, 0}};
  }
  int64_t measured_ns() const override { return 200; }
  int64_t unchanged_ns() const override { return 200; }
  int64_t steps() const override { return 2; }
};

}  // namespace tutti::viewer::testing
