// The programs, one a file; main.cc runs the one that is named. Each does its work on device 0
// (two_processes: of every rank), tells its truth and returns whether all calls of CUDA did what
// they should.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdio>

#include "tests/gpu/truth.h"

namespace tutti::gpu {

// True if |result| is success; says what failed otherwise.
inline bool Done(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return true;
  std::fprintf(stderr, "gpu_truth: %s: %s\n", what, cudaGetErrorString(result));
  return false;
}
#define TUTTI_CUDA(call)                                  \
  do {                                                    \
    if (!::tutti::gpu::Done((call), #call)) return false; \
  } while (false)

bool RunKernels(Truth& truth);      // of set length, on one stream
bool RunStreams(Truth& truth);      // on several, with waits between them
bool RunCopies(Truth& truth);       // every direction, pageable and pinned
bool RunGraphs(Truth& truth);       // of K nodes, launched M times
bool RunPools(Truth& truth);        // stream-ordered allocations
bool RunManaged(Truth& truth);      // managed memory
bool RunNvtx(Truth& truth);         // ranges, nested and from thread to thread
bool RunFork(Truth& truth);         // a child that does nothing of CUDA
bool RunOutOfMemory(Truth& truth);  // an allocation that fails

}  // namespace tutti::gpu
