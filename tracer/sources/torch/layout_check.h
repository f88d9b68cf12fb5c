// Compares layout.h with the PyTorch that is loaded, by making it build objects in buffers of
// ours with known values and looking where those values are. Nothing is registered, no other
// observer runs, nothing of the program is touched.
//
// An unknown release passes if it is laid out like the known ones; one that is not is told
// from it by the first field that is elsewhere. Takes a few microseconds, once per process.
#pragma once

#include "tracer/sources/torch/library.h"

namespace tutti::tracer::torch {

// The first thing about at::RecordFunction that is not as in layout.h, in plain words, or
// nullptr when all is as expected. |library| must be complete. Not for hot paths; to be
// called by one thread at a time.
const char* FindRecordFunctionMismatch(const Library& library) noexcept;

// Where a c10::TensorImpl has its sizes (one of tensor_impl::kSizesCandidates), or 0 when it
// is not laid out like that. Found on the undefined tensor, whose every field is known.
size_t FindTensorSizes(const Library& library) noexcept;

// As FindRecordFunctionMismatch for c10d::Backend. Returns "not in this PyTorch" when it has no
// c10d.
const char* FindBackendMismatch(const Library& library) noexcept;

}  // namespace tutti::tracer::torch
