// What all parts of the import of one Kineto trace share. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "collector/importers/kineto/oddities.h"
#include "collector/importers/kineto/raw_event.h"
#include "collector/importers/kineto/token_strings.h"
#include "collector/importers/kineto/tracks.h"
#include "collector/importers/trace_sink.h"

namespace tutti::collector::importers::kineto {

// Longer than any trace: what lasts longer has a time that is wrong.
inline constexpr int64_t kLongestNs = int64_t{30} * 24 * 3600 * 1'000'000'000;

// Begin and end of an event on the host; without an end it was still open.
struct HostTimes {
  int64_t begin_ns = 0;
  std::optional<int64_t> end_ns;
};

// Times of work on a GPU; none where they are missing or wrong.
struct DeviceTimes {
  std::optional<int64_t> begin_ns;
  std::optional<int64_t> end_ns;
};

struct Context {
  Context(TraceSink& trace, int64_t base_time_ns)
      : sink(trace), base_ns(base_time_ns), strings(trace), tracks(trace) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  TraceSink& sink;
  int64_t base_ns;  // added to every time
  TokenStrings strings;
  Tracks tracks;
  Ledger ledger;
  int64_t events_read = 0;
  int64_t events_skipped = 0;
  int64_t training_events = 0;  // of kinds that only training traces have
  std::optional<int64_t> first_ns;
  std::optional<int64_t> last_ns;

  // Leaves an event out.
  void Skip(const Oddity& oddity, const RawEvent& event, std::string_view about = {});

  // The time of an event; absent: counted and left out.
  std::optional<int64_t> TimeOf(const RawEvent& event);
  std::optional<HostTimes> HostTimesOf(const RawEvent& event);
  // Absent only where the event has no readable time at all: counted and left out.
  std::optional<DeviceTimes> DeviceTimesOf(const RawEvent& event);

 private:
  enum class DurationFault { kNone, kMissing, kNegative, kAbsurd };
  // The end of an event that begins at `begin_ns`.
  DurationFault EndOf(const RawEvent& event, int64_t begin_ns, int64_t& end_ns) const;
  void Saw(int64_t begin_ns, int64_t end_ns);
};

}  // namespace tutti::collector::importers::kineto
