// One event on its way from a rank file into a lane, and what tells it from others.
#pragma once

#include <compare>
#include <cstdint>

#include "viewer/model/category.h"
#include "viewer/model/name_table.h"

namespace tutti::viewer {

// The table that an event's row is in.
enum class Source : uint8_t {
  kStepWindow,  // derived; the row id is the step
  kCollective,  // derived; the row id is collective_call.source_id
  kPhase,
  kRange,
  kGpuRange,
  kCpuOp,
  kPythonCall,
  kApiCall,
  kKernel,
  kMemcpy,
  kMemset,
  kSync,
  kOverhead,
  kDataWait,
};

struct Event {
  int64_t begin_ns = 0;  // aligned time
  int64_t end_ns = 0;    // never before begin_ns
  NameId name = 0;
  uint32_t row_id = 0;
  Category category = Category::kHost;
  Source source = Source::kCpuOp;
  bool is_open = false;  // it had not ended when the trace did
};

// Where an event is: the place of its rank in the session, of its track in the rank, of its
// lane in the track, and its own place in the lane. The order is that of rows, then of time.
struct EventRef {
  uint32_t rank = 0;
  uint32_t track = 0;
  uint32_t lane = 0;
  uint32_t index = 0;
  friend auto operator<=>(const EventRef&, const EventRef&) = default;
};

}  // namespace tutti::viewer
