// The source of GPU events. It starts once this process is a rank and the CUDA driver has called
// for a tool, whichever comes later: subscribes, asks for the kinds of activity below with the
// trace's clock, and has two threads of its own: one asks CUPTI each second for what is complete,
// the other hands full buffers on. At the end of the process what is left is asked for, with a
// deadline. cuptiFinalize is never called.
//
// Whatever goes wrong, the source stays off, a note says why and what to do, and training goes on.
#pragma once

namespace tutti::tracer::cupti {

// The CUDA driver asks for a tool (InitializeInjection), within the program's first CUDA call.
void OnCuda() noexcept;

// This process has become a rank.
void OnPromotion() noexcept;

}  // namespace tutti::tracer::cupti
