// Who "pid" and "tid" of an event are: a thread of a process, or a stream of a GPU. Writers
// put numbers, numbers in quotes, "stream 7" or any words there. One thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "collector/importers/kineto/span_stack.h"
#include "collector/importers/trace_sink.h"

namespace tutti::collector::importers::kineto {

// One (pid, tid) of the trace.
struct Track {
  size_t index = 0;
  int64_t pid = 0;  // words have numbers from kFirstWordId up
  int64_t tid = 0;
  bool is_stream = false;           // by its name, or because work of a GPU was seen on it
  std::string name;                 // of the metadata
  std::optional<int64_t> row_tid;   // value of tid columns, once asked for
  std::optional<int64_t> first_ns;  // of what was seen on the host
  std::optional<int64_t> last_ns;
  int64_t host_events = 0;
  int64_t device_events = 0;
  bool has_steps = false;
  bool has_backward = false;
  bool has_gloo = false;
  bool has_whole_ranges = false;  // begin and end in one event
  bool has_range_halves = false;  // begin and end in two
  SpanStack ops;
  SpanStack ranges;
  SpanStack calls;  // of Python

  // Depths of ranges are only known together.
  bool HasDisorderedRanges() const {
    return ranges.is_disordered() || (has_whole_ranges && has_range_halves);
  }
  void Saw(int64_t begin_ns, int64_t end_ns) {
    ++host_events;
    first_ns = first_ns ? std::min(*first_ns, begin_ns) : begin_ns;
    last_ns = last_ns ? std::max(*last_ns, end_ns) : end_ns;
  }
};

inline constexpr int64_t kFirstWordId = int64_t{1} << 62;

class Tracks {
 public:
  explicit Tracks(TraceSink& sink) : sink_(sink) {}

  // By the tokens of an event; absent ones count as 0.
  Track& Of(std::string_view pid, std::string_view tid);
  Track& At(size_t index) { return tracks_[index]; }

  // Value for tid columns.
  int64_t RowTid(Track& track);

  void SetName(Track& track, std::string_view name) { track.name = name; }
  void SetProcessName(int64_t pid, std::string_view name) { process_names_[pid] = name; }
  void SetLabels(int64_t pid, std::string_view labels) { labels_[pid] = labels; }
  const std::string& ProcessName(int64_t pid) const;
  const std::string& Labels(int64_t pid) const;

  // The process that did most on the host; absent without any.
  std::optional<int64_t> MainProcess() const;

  std::deque<Track>& all() { return tracks_; }

  // Writes names, roles and times of the threads.
  void Finish();

 private:
  struct Cached {
    std::string tokens;  // "pid,tid"
    Track* track = nullptr;
  };

  int64_t NumberOf(std::string_view token);
  Track& Find(std::string_view pid, std::string_view tid);
  std::string NameOf(const Track& track) const;

  TraceSink& sink_;
  std::deque<Track> tracks_;
  std::map<std::pair<int64_t, int64_t>, size_t> index_;
  std::map<std::string, int64_t, std::less<>> words_;
  std::map<int64_t, std::string> process_names_;
  std::map<int64_t, std::string> labels_;
  std::array<Cached, 64> cache_;
};

// The number in "stream 7", "Stream 7" or "7"; absent otherwise.
std::optional<int64_t> StreamNumber(std::string_view token);

}  // namespace tutti::collector::importers::kineto
