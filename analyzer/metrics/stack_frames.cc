#include "analyzer/metrics/stack_frames.h"

#include <algorithm>
#include <array>

namespace tutti::analyzer {
namespace {

// Parts of paths and names that are torch's own, on any system.
constexpr std::array<std::string_view, 7> kTorch = {
    "/torch/", "\\torch\\", "torch/distributed/", "c10d::", "at::", "torch::", "c10::"};

bool IsTorch(std::string_view frame) {
  return std::any_of(kTorch.begin(), kTorch.end(), [&](std::string_view part) {
    return frame.find(part) != std::string_view::npos;
  });
}

}  // namespace

std::string_view FrameToShow(std::string_view stack) {
  const std::string_view innermost = stack.substr(0, stack.find('\n'));
  while (!stack.empty()) {
    const size_t end = stack.find('\n');
    const std::string_view frame = stack.substr(0, end);
    if (!frame.empty() && !IsTorch(frame)) return frame;
    stack = end == std::string_view::npos ? std::string_view() : stack.substr(end + 1);
  }
  return innermost;
}

std::string ShortFrame(std::string_view frame) {
  const size_t open = frame.rfind('(');
  if (open == std::string_view::npos) return std::string(frame);
  const std::string_view path = frame.substr(open + 1);
  constexpr std::string_view kSeparators = "/\\";
  const size_t name = path.find_last_of(kSeparators);
  if (name == std::string_view::npos || name == 0) return std::string(frame);
  const size_t folder = path.find_last_of(kSeparators, name - 1);
  if (folder == std::string_view::npos) return std::string(frame);
  return std::string(frame.substr(0, open + 1)) + std::string(path.substr(folder + 1));
}

}  // namespace tutti::analyzer
