#include "collector/convert/context.h"

namespace tutti::collector::convert {

Span Context::SpanOf(uint64_t begin_ticks, uint64_t end_ticks) {
  if (end_ticks >= begin_ticks) return {TimeOf(begin_ticks), TimeOf(end_ticks)};
  const int64_t begin_ns = TimeOf(begin_ticks);
  findings.Add({wire::NoteSeverity::kError, "stamps_out_of_order", "collector.convert",
                "events whose end lies before their begin; their length was set to 0",
                "report this with the name of the program that was traced"},
               1, {begin_ns, begin_ns});
  return {begin_ns, begin_ns};
}

void Context::CountOutside() {
  findings.Add({wire::NoteSeverity::kNotice, "stamp_outside_clock", "collector.convert",
                "stamps outside the collector's clock readings were moved to the nearest one",
                "times at the very end of this trace are uncertain"});
}

}  // namespace tutti::collector::convert
