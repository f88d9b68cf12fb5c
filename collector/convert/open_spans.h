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

  // The record of a span of |thread| with this name that began at |begin_ticks| was published, on
  // whichever ring: a thread may have gone on in a larger one. (Its tracer took the span off the
  // stack before.)
  void OnEnded(ThreadTable::Index thread, uint32_t name, uint64_t begin_ticks);

  // All open spans, by thread and depth. Call once.
  std::vector<OpenSpanAt> Take();

 private:
  struct Snapshot {
    uint32_t ring;  // that it was read from
    std::vector<OpenSpanAt> open;
  };
  std::map<ThreadTable::Index, Snapshot> snapshots_;
  std::vector<OpenSpanAt> final_;
};

}  // namespace tutti::collector::convert
