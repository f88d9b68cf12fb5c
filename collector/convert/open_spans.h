// Spans that were open when a thread or the process ended, from the stacks in the ring
// headers: what a rank was inside when it died or hung. One thread.
//
// A stack read from a dead process is final. A snapshot of a running one counts only if
// nothing later came, less the spans whose records came after it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "collector/convert/thread_table.h"
#include "collector/spool/format.h"
#include "common/wire/segment.h"

namespace tutti::collector::convert {

struct OpenSpanAt {
  ThreadTable::Index thread;
  wire::OpenSpan span;
  uint32_t depth;  // open spans below it: of its domain for ranges, of any kind for others
};

class OpenSpans {
 public:
  // A stack as the drainer read it from |ring|, bottom first.
  void OnStack(uint32_t ring, ThreadTable::Index thread, spool::OpenSpansReason reason,
               std::span<const wire::OpenSpan> stack);

  // The record of a span with this name that began at |begin_ticks| was published on
  // |ring|. (Its tracer took the span off the stack before.)
  void OnEnded(uint32_t ring, uint32_t name, uint64_t begin_ticks);

  // All open spans, by ring and depth. Call once.
  std::vector<OpenSpanAt> Take();

 private:
  std::map<uint32_t, std::vector<OpenSpanAt>> snapshots_;  // by ring
  std::vector<OpenSpanAt> final_;
};

}  // namespace tutti::collector::convert
