// One worker of a timeline -> step, phase, kernel, gpu_range, collective_source.
// One thread.
#pragma once

#include <span>

#include "collector/importers/straggler_study/timeline.h"
#include "collector/importers/trace_sink.h"

namespace tutti::collector::importers::straggler_study {

// `spans` are those of the worker. Its rank is its place in `timeline.workers`.
void WriteWorker(const Timeline& timeline, size_t worker, std::span<const Span> spans,
                 TraceSink& sink);

}  // namespace tutti::collector::importers::straggler_study
