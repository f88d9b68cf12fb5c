// What differs between the training programs: a model, its data and one step. The loop around it
// is RunTraining (training.h).
#ifndef TUTTI_WORKLOADS_COMMON_WORKLOAD_H_
#define TUTTI_WORKLOADS_COMMON_WORKLOAD_H_

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <utility>
#include <vector>

namespace torch::serialize {
class OutputArchive;
}

namespace tutti::workloads {

struct StepResult {
  std::optional<double> loss;  // nothing on a rank that doesn't learn it
  int64_t samples = 0;         // that this rank trained on
};

// Tensors whose bits must be the same on all ranks of a group.
struct ReplicatedState {
  c10::intrusive_ptr<c10d::ProcessGroup> group;  // null: there is no other rank
  std::vector<at::Tensor> tensors;
};

// Made and used by one thread. Errors are thrown as std::exception and end the rank.
class Workload {
 public:
  virtual ~Workload() = default;

  // What it trains on, for the user; one line.
  virtual std::string DataDescription() const = 0;

  // Gets a batch, runs forward and backward and updates the parameters. Marks its phases (see
  // phase.h), waits for data and batches; the step itself has been marked.
  virtual StepResult Step(int64_t step) = 0;

  virtual ReplicatedState Replicated() const = 0;

  // Mean losses of the held-out samples, the same on all ranks, each with the name of the way in
  // which it was evaluated; none if there are no such samples. The phase has been marked.
  virtual std::vector<std::pair<std::string, double>> Evaluate() { return {}; }

  // Writes what this rank would need to go on; called on those ranks that are to |save|.
  virtual void Save(torch::serialize::OutputArchive& archive) const = 0;
  virtual bool saves() const = 0;

  // The rank that reports the loss; the same on all ranks.
  virtual int reporter() const { return 0; }

  // What there is to say at the end beside the loss, such as "2 buckets"; may be empty.
  virtual std::string Summary() const { return ""; }
};

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_WORKLOAD_H_
