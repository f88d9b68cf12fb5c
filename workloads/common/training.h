// The training loop of the workloads, annotated for Tutti: all that is the same for each of them.
#ifndef TUTTI_WORKLOADS_COMMON_TRAINING_H_
#define TUTTI_WORKLOADS_COMMON_TRAINING_H_

#include <functional>
#include <memory>
#include <string>

#include "workloads/common/job.h"
#include "workloads/common/options.h"
#include "workloads/common/workload.h"

namespace tutti::workloads {

// Makes the workload; called after LibTorch is seeded, so that random parameters are reproducible.
using WorkloadMaker = std::function<std::unique_ptr<Workload>(const Job&)>;

// Runs the whole job of this rank: joins the others, trains, checks that all ranks ended with
// equal parameters. One rank reports on stdout. Returns the exit status: 0, or 1 after saying on
// stderr what went wrong.
int RunTraining(const std::string& name, const Options& options, const WorkloadMaker& make);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_TRAINING_H_
