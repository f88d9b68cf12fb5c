// DrainLoop: switches sources on and off as `tutti ctl` asks. See capture_control.h.
#include "collector/clock/clock_reading.h"
#include "collector/drain/drain_loop.h"
#include "collector/drain/open_step.h"

namespace tutti::collector::drain {

void DrainLoop::ControlCapture() {
  if (control_.Look()) Say("tutti ctl: " + ToText(control_.wish()));
  for (auto& [index, process] : processes_) ControlProcess(process);
}

void DrainLoop::ControlProcess(Process& process) {
  if (capture_stopped_ || process.ended_ns) return;
  if (control_.watches_steps()) {
    if (const auto step = process.drainer.OpenStep()) process.step = step;
  }
  const uint32_t full = process.drainer.process().capture_mask;
  const uint32_t mask = MaskFor(control_.wish(), full, process.step);
  if (mask == process.mask.value_or(full)) return;
  process.drainer.SetCaptureMask(mask);
  if (mask == full) TellPause(process);
  if (mask != full && !process.paused_ns) process.paused_ns = clock::MonotonicRawNs();
  process.mask = mask;
}

// Leaves in the trace from when to when not all was recorded.
void DrainLoop::TellPause(Process& process) {
  if (!process.paused_ns) return;
  process.drainer.WriteNote(spool::EncodeNote(
      wire::NoteSeverity::kInfo, 1, *process.paused_ns, clock::MonotonicRawNs(), "capture_paused",
      "collector.drain", "recording was switched off here by tutti ctl", ""));
  process.paused_ns.reset();
}

}  // namespace tutti::collector::drain
