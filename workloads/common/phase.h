// Phases of a step, with the faults that act in them.
#ifndef TUTTI_WORKLOADS_COMMON_PHASE_H_
#define TUTTI_WORKLOADS_COMMON_PHASE_H_

#include <chrono>
#include <cstdint>

#include "tracer/annotate.h"
#include "workloads/common/job.h"

namespace tutti::workloads {

// A phase of the step for as long as the object lives.
class Phase {
 public:
  explicit Phase(tutti_phase phase) { tutti_phase_begin(phase); }
  ~Phase() { tutti_phase_end(); }
  Phase(const Phase&) = delete;
  Phase& operator=(const Phase&) = delete;
};

// Faults of any workload that act once a step, at the start of its (first) forward.
void InjectIntoForward(const Job& job, int64_t step);

// Multiplies matrices, as a model would, until |duration| is over.
void ComputeFor(std::chrono::nanoseconds duration, torch::Device device);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_PHASE_H_
