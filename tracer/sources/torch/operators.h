// Operators, autograd functions and ranges: the RecordFunction callbacks.
#pragma once

#include "tracer/sources/torch/source.h"

namespace tutti::tracer::torch {

// Registers the callbacks with PyTorch, for good. Once per process, after |source| is filled.
void RegisterCallbacks(const Source& source) noexcept;

}  // namespace tutti::tracer::torch
