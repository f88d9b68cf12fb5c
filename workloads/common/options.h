// The command line that all workloads share. No LibTorch here.
#ifndef TUTTI_WORKLOADS_COMMON_OPTIONS_H_
#define TUTTI_WORKLOADS_COMMON_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "workloads/common/fault.h"

namespace tutti::workloads {

// An option that only one workload has.
struct OwnOption {
  std::string flag;  // "--layers"
  std::string help;
  // Where the value goes; its value is the default. A number must be positive unless |may_be_zero|.
  std::variant<int64_t*, double*, bool*, std::string*> value;
  std::vector<std::string> choices = {};  // all that a text may be; empty: anything
  bool is_existing_path = false;
  bool may_be_zero = false;
};

// The values here are the defaults; a workload may set its own before ParseOptions.
struct Options {
  int64_t batch = 64;  // samples per step and rank
  int64_t steps = 60;
  int64_t accumulate = 1;         // batches per step; gradients are exchanged in the last
  double bucket_mb = 25.0;        // capacity of a gradient bucket, MiB
  std::string compress = "none";  // gradients on their way: none, fp16, bf16
  int workers = 2;                // threads of the data loader
  double lr = 0.01;
  int64_t balance_every = 0;     // steps; 0: never. Batches become as large as ranks are fast
  int64_t evaluate_every = 0;    // steps; 0: never
  int64_t prune = 0;             // percent of weights that an evaluation leaves out
  bool int8 = false;             // an evaluation computes in 8 bits
  int64_t checkpoint_every = 0;  // steps; 0: never
  std::string checkpoint_dir = ".";
  std::string backend = "gloo";
  int64_t seed = 1;
  int threads = 0;      // of one rank's operators; 0: 1 if ranks share the machine, else cores
  int timeout_s = 600;  // of a collective
  // Kinds that the workload can carry; one that has others, or not all of these, says so.
  std::vector<FaultKind> carries{SharedFaults().begin(), SharedFaults().end()};
  std::vector<Fault> faults;
};

// Takes the faults of the gradient reducer out of |kinds|, for workloads that have none.
void WithoutReducerFaults(std::vector<FaultKind>& kinds);

// Fills |options| and what |own| points to. Returns the exit status if the program is to end now
// (--help, or a mistake that has been reported on stderr), else nothing.
std::optional<int> ParseOptions(const std::string& name, const std::string& description, int argc,
                                char** argv, Options& options,
                                const std::vector<OwnOption>& own = {});

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_OPTIONS_H_
