#include "collector/live/window.h"

#include <algorithm>
#include <utility>

namespace tutti::collector::live {
namespace {

constexpr int64_t kFilesOfSteps = 4;
constexpr uint64_t kFilesOfBytes = 8;
// On a full disk the oldest file goes: it should not be most of what fits.
constexpr uint64_t kMostFileBytes = 8 << 20;

}  // namespace

uint64_t FittingBytes(uint64_t bytes, uint64_t max_file_bytes) {
  const uint64_t file_bytes = std::max<uint64_t>(max_file_bytes / 2, 1);
  return bytes / kFilesOfBytes <= file_bytes ? bytes : file_bytes * kFilesOfBytes;
}

bool Window::IsFull(uint64_t bytes, int64_t steps) const {
  return steps >= std::max<int64_t>(limits_.steps / kFilesOfSteps, 1) ||
         bytes >= std::min(limits_.bytes / kFilesOfBytes, kMostFileBytes);
}

void Window::Ended(File file) { files_.push_back(std::move(file)); }

std::vector<Window::File> Window::Expire(uint64_t newest_bytes, int64_t newest_steps,
                                         int64_t recent_ns) {
  uint64_t bytes = newest_bytes + ended_bytes();
  int64_t steps = newest_steps;
  for (const File& file : files_) steps += file.steps;
  std::vector<File> expired;
  while (!files_.empty()) {
    const File& oldest = files_.front();
    // The first step of the next file may have begun in this one.
    const bool has_enough_without =
        steps - oldest.steps > limits_.steps && oldest.ended_ns <= recent_ns;
    if (!has_enough_without && bytes <= limits_.bytes) break;
    steps -= oldest.steps;
    bytes -= oldest.bytes;
    expired.push_back(*DropOldest());
  }
  return expired;
}

std::optional<Window::File> Window::DropOldest() {
  if (files_.empty()) return std::nullopt;
  File oldest = std::move(files_.front());
  files_.pop_front();
  return oldest;
}

uint64_t Window::ended_bytes() const {
  uint64_t bytes = 0;
  for (const File& file : files_) bytes += file.bytes;
  return bytes;
}

}  // namespace tutti::collector::live
