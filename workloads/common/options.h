// The command line that all workloads share. No LibTorch here.
#ifndef TUTTI_WORKLOADS_COMMON_OPTIONS_H_
#define TUTTI_WORKLOADS_COMMON_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workloads/common/fault.h"

namespace tutti::workloads {

// The values here are the defaults; a workload may set its own before ParseOptions.
struct Options {
  int64_t batch = 64;  // samples per step and rank
  int64_t steps = 60;
  int64_t hidden = 512;     // width of the hidden layer; 0: the model has none, no option
  double bucket_mb = 25.0;  // capacity of a gradient bucket, MiB
  int workers = 2;          // threads of the data loader
  double lr = 0.01;
  std::string data_dir;  // with MNIST's IDX files; empty: see LoadImages
  bool reads_images = true;
  std::string backend = "gloo";
  int64_t seed = 1;
  int threads = 0;      // of one rank's operators; 0: 1 if ranks share the machine, else cores
  int timeout_s = 600;  // of a collective
  std::vector<Fault> faults;
};

// Fills |options|. Returns the exit status if the program is to end now (--help, or a mistake
// that has been reported on stderr), else nothing.
std::optional<int> ParseOptions(const std::string& name, const std::string& description, int argc,
                                char** argv, Options& options);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_OPTIONS_H_
