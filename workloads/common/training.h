// The training loop of the workloads: data-parallel SGD, annotated for Tutti, with faults.
#ifndef TUTTI_WORKLOADS_COMMON_TRAINING_H_
#define TUTTI_WORKLOADS_COMMON_TRAINING_H_

#include <torch/types.h>

#include <functional>
#include <string>

#include "workloads/common/batch_loader.h"
#include "workloads/common/options.h"

namespace torch::nn {
class SequentialImpl;
}

namespace tutti::workloads {

// What is trained on what. The same on every rank, but for the order of samples.
struct TrainingTask {
  std::string name;
  std::string data_description;
  std::shared_ptr<torch::nn::SequentialImpl> model;
  std::function<torch::Tensor(torch::Tensor output, torch::Tensor target)> loss;
  TensorData data;
};

// Makes the task; called after LibTorch is seeded, so that random parameters are reproducible.
using TaskMaker = std::function<TrainingTask(const Options&)>;

// Runs the whole job of this rank: joins the others, trains, checks that all ranks ended with
// equal parameters. Rank 0 reports on stdout. Returns the exit status: 0, or 1 after saying on
// stderr what went wrong.
int RunTraining(const std::string& name, const Options& options, const TaskMaker& make_task);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_TRAINING_H_
