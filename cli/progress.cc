#include "cli/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string_view>

#include "cli/terminal.h"
#include "common/text.h"

namespace tutti::cli {
namespace {

// Rewrites one line of a terminal and wipes it at the end.
class ProgressLine {
 public:
  ~ProgressLine() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }
  explicit ProgressLine(const char* doing) : doing_(doing) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(std::string_view what, size_t index, size_t count) {
    if (Clock::now() - begin_ < kPatience) return;
    std::fprintf(stderr, "\r\x1b[K%s: %s (%zu of %zu)", doing_, ToPrintableText(what).c_str(),
                 index + 1, count);
    shown_ = true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kPatience{500};
  const char* doing_;
  Clock::time_point begin_ = Clock::now();
  bool shown_ = false;
};

using Progress = std::function<void(std::string_view, size_t, size_t)>;

// Empty where nobody watches.
Progress LineOf(const char* doing) {
  if (isatty(STDERR_FILENO) == 0) return nullptr;
  const auto line = std::make_shared<ProgressLine>(doing);
  return
      [line](std::string_view what, size_t index, size_t count) { line->Show(what, index, count); };
}

}  // namespace

analyzer::AnalyzeOptions WithProgress() {
  analyzer::AnalyzeOptions options;
  options.progress = LineOf("analyzing");
  return options;
}

std::function<void(std::string_view, size_t, size_t)> ImportProgress() {
  return LineOf("importing");
}

}  // namespace tutti::cli
