// Places the slices of one lane on tracks in which they nest, as Perfetto demands: a slice
// that crosses the end of another goes to a further track.
//
//   track 0  [=====A=====)      [==C==)
//               [=B=)
//   track 1           [====D====)          D crosses A's end
//
// Slices come in order of their begin, of those that begin together the longer first.
// Pure; one thread. Memory: the slices that are open at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tutti::exporter::perfetto {

class SliceNesting {
 public:
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();  // still open

  struct Ended {
    size_t track;
    int64_t time_ns;
  };

  // The next slice that ends at or before |time_ns|, in order of time, and within a track the
  // inner ones first; nothing when there is none left. Call until then before Place.
  std::optional<Ended> PopEnded(int64_t time_ns);
  // The lowest track on which a slice with this end nests. |end_ns| not before its begin.
  size_t Place(int64_t end_ns);
  // Forgets everything, for the next lane.
  void Clear();

 private:
  std::vector<std::vector<int64_t>> open_;         // ends of the open slices by track, inner last
  std::set<std::pair<int64_t, size_t>> next_end_;  // innermost end and track
};

}  // namespace tutti::exporter::perfetto
