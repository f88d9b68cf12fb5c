// Which files of a spool that is a series (spool/series.h) the rolling window of `tutti record
// --live` still needs: those with the newest steps and those of the last seconds, as far as they
// fit. What is noticed a moment too late, such as a slow step among short ones, is there then.
// Pure. One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace tutti::collector::live {

struct WindowLimits {
  int64_t steps = 100;
  uint64_t bytes = 256 << 20;  // of the spool of one process; steps that don't fit are not kept
};

// The size of a window whose files are no larger than half of |max_file_bytes|.
uint64_t FittingBytes(uint64_t bytes, uint64_t max_file_bytes);

class Window {
 public:
  struct File {
    std::string name;
    uint64_t bytes = 0;
    int64_t steps = 0;                        // that ended in it
    std::optional<int64_t> step_before = {};  // number of the last that ended before; none: unknown
    int64_t ended_ns = 0;                     // when it did, of any clock
  };

  explicit Window(WindowLimits limits) : limits_(limits) {}

  // Whether the newest file should end, which has so many bytes and steps: each file is a small
  // part of what is kept, and of a disk, since files go as a whole.
  bool IsFull(uint64_t bytes, int64_t steps) const;

  // The newest file has ended; another is begun.
  void Ended(File file);

  // Takes out the files that are not needed any more, beside a newest one with so many bytes and
  // steps. One that ended after `recent_ns` is, if it fits.
  std::vector<File> Expire(uint64_t newest_bytes, int64_t newest_steps, int64_t recent_ns);
  // Takes out the oldest that has ended, if there is one: the disk is full.
  std::optional<File> DropOldest();

  // Those that have ended, oldest first.
  const std::deque<File>& files() const { return files_; }
  uint64_t ended_bytes() const;

 private:
  WindowLimits limits_;
  std::deque<File> files_;
};

}  // namespace tutti::collector::live
