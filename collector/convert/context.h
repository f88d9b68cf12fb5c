// What all parts of one process's conversion share. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "collector/clock/tick_clock.h"
#include "collector/convert/communicator_table.h"
#include "collector/convert/findings.h"
#include "collector/convert/row_output.h"
#include "collector/convert/string_table.h"
#include "collector/convert/thread_table.h"

namespace tutti::collector::convert {

// A span in the trace's time, begin_ns <= end_ns.
struct Span {
  int64_t begin_ns;
  int64_t end_ns;
};

struct Context {
  Context(RowOutput& row_output, clock::Anchor anchor, uint32_t string_capacity, uint32_t main_tid)
      : rows(row_output), clock(anchor), strings(string_capacity, rows), threads(main_tid) {}

  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  RowOutput& rows;
  clock::TickClock clock;
  StringTable strings;
  ThreadTable threads;
  CommunicatorTable communicators;
  Findings findings;

  // Rows that lie wholly outside are left out (`--steps`); absent: everything is kept.
  std::optional<Span> window;

  // Next id of each table.
  struct {
    int64_t cpu_op = 0, range = 0, step = 0, phase = 0, data_wait = 0, batch = 0, memory_event = 0,
            collective = 0, counter = 0, api_call = 0, kernel = 0, memcpy = 0, memset = 0, sync = 0,
            overhead = 0;
  } next_id;

  // A stamp as time; one outside the clock readings is moved to the nearest and counted.
  int64_t TimeOf(uint64_t ticks) {
    if (!clock.Covers(ticks)) CountOutside();
    return clock.ToTraceNs(ticks);
  }
  // Stamps in the wrong order (a hostile or broken writer) give an empty span at the
  // begin, and are counted.
  Span SpanOf(uint64_t begin_ticks, uint64_t end_ticks);

  bool Wanted(int64_t begin_ns, int64_t end_ns) const {
    return !window || (begin_ns < window->end_ns && end_ns >= window->begin_ns);
  }

  // Appends a row with begin_ns and optional end_ns if it is wanted; gives it an id.
  template <typename Row>
  void AppendSpan(Row row, int64_t& next) {
    if (!Wanted(row.begin_ns, row.end_ns.value_or(INT64_MAX))) return;
    row.id = next++;
    rows.Append(std::move(row));
  }

 private:
  void CountOutside();
};

}  // namespace tutti::collector::convert
