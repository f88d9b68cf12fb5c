// The torch source as a library of its own, for live_torch_test.cc: what tracer.cc is for the
// whole tracer.
#include "tracer/core/session.h"

[[gnu::constructor]] static void ConfigureAtLoad() { tutti::tracer::Configure(); }
