// Reads the counters of each GPU of the node through NVML. A call of NVML may take milliseconds,
// or hang with the driver: see NodeSampler. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "collector/counters/nvml.h"
#include "collector/spool/format.h"

namespace tutti::collector::counters {

class GpuSampler {
 public:
  explicit GpuSampler(std::string library = nvml::LibraryName()) : library_(std::move(library)) {}

  // Loads NVML; false if there is nothing to read here.
  bool Start();

  // One sample of each GPU; what a GPU does not tell is -1.
  std::vector<spool::NodeSample> Read();

 private:
  struct Gpu {
    nvml::Device device;
    std::string uuid;
    // PCIe counters of 32 bits, continued.
    int64_t pcie_last[2] = {-1, -1};
    int64_t pcie_sum[2] = {0, 0};
  };
  void ReadMomentary(const Gpu& gpu, spool::NodeSample& sample) const;
  void ReadFields(Gpu& gpu, spool::NodeSample& sample) const;

  std::string library_;
  nvml::Functions functions_{};
  std::vector<Gpu> gpus_;
};

}  // namespace tutti::collector::counters
