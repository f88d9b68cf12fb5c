// Finds the gradients' all-reduces among a job's collectives.
#pragma once

#include <span>

#include "analyzer/replay/rank_events.h"

namespace tutti::analyzer {

// Sets job.gradients: complete all-reduces that a step hands in from its backward pass on, over
// the communicator that moves most bytes by these and hardly any before (tensor parallelism does
// both). `calls` are complete, by collective.
Status FindGradients(RunContext& context, std::span<const CallEvents> calls, JobGraph& job);

}  // namespace tutti::analyzer
