// Operators, autograd functions and ranges: the RecordFunction callbacks.
#pragma once

#include "tracer/sources/torch/library.h"

namespace tutti::tracer::torch {

// Registers the callbacks with PyTorch, for good. Once per process.
void RegisterCallbacks(const Library& library) noexcept;

// Has PyTorch make the inputs of operators from now on, for their shapes. Costs every operator
// the boxing of its inputs. Once per process.
void AskForInputs(const Library& library) noexcept;

}  // namespace tutti::tracer::torch
