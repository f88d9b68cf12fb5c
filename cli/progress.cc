#include "cli/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string_view>

namespace tutti::cli {
namespace {

// Rewrites one line of a terminal and wipes it at the end.
class ProgressLine {
 public:
  ~ProgressLine() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }
  ProgressLine() = default;
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(std::string_view pass, size_t index, size_t count) {
    if (Clock::now() - begin_ < kPatience) return;
    std::fprintf(stderr, "\r\x1b[Kanalyzing: %.*s (%zu of %zu)", static_cast<int>(pass.size()),
                 pass.data(), index + 1, count);
    shown_ = true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPatience{500};
  Clock::time_point begin_ = Clock::now();
  bool shown_ = false;
};

}  // namespace

analyzer::AnalyzeOptions WithProgress() {
  analyzer::AnalyzeOptions options;
  if (isatty(STDERR_FILENO) == 0) return options;
  const auto line = std::make_shared<ProgressLine>();
  options.progress = [line](std::string_view pass, size_t index, size_t count) {
    line->Show(pass, index, count);
  };
  return options;
}

}  // namespace tutti::cli
