// The program's ranges as the GPU saw them -> gpu_range: for each push/pop range and each stream
// on which work was launched inside it, from the begin of the first to the end of the last of that
// work. NCCL's own ranges and Tutti's are left out. What is kept until the end is bounded. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/convert/context.h"

namespace tutti::collector::convert {

class GpuRanges {
 public:
  explicit GpuRanges(Context& context) : context_(context) {}

  void OnRange(const schema::RangeRow& range);
  // A call that gives work to a GPU.
  void OnLaunch(int64_t tid, int64_t begin_ns, int64_t correlation_id);
  // The work.
  template <typename Row>
  void OnWork(const Row& row) {
    if (!row.begin_ns || !row.correlation_id) return;
    Add(*row.correlation_id, {row.device_id, row.stream_id}, {*row.begin_ns, *row.end_ns});
  }

  // Writes the rows. Call once.
  void Finish();

 private:
  static constexpr size_t kMost = 500'000;           // of ranges, launches and pieces of work each
  static constexpr size_t kMostVisits = 20'000'000;  // of launches, as ranges may be nested

  using Place = std::pair<int64_t, int64_t>;  // device, stream
  struct Range {
    int64_t tid;
    int64_t name_id;
    Span span;
  };
  struct Launch {
    int64_t begin_ns;
    int64_t correlation_id;
    bool operator<(const Launch& other) const { return begin_ns < other.begin_ns; }
  };
  struct Work {
    Place place;
    Span span;
  };
  void Add(int64_t correlation_id, Place place, Span span);
  void Project(const Range& range);

  Context& context_;
  std::vector<Range> ranges_;
  std::unordered_map<int64_t, std::vector<Launch>> launches_;  // by thread
  std::unordered_map<int64_t, std::vector<Work>> work_;        // by correlation
  size_t launch_count_ = 0;
  size_t work_count_ = 0;
  size_t visits_ = 0;
  int64_t next_id_ = 0;
  bool is_cut_ = false;
};

}  // namespace tutti::collector::convert
