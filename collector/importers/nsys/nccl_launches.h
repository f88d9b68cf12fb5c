// Which kernel of NCCL each of a thread's launches started: kernels are known by their
// correlation id, launches by thread and time, and NCCL's NVTX ranges enclose launches.
// Remembers a few words for each kernel of NCCL. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace tutti::collector::importers::nsys {

struct NcclKernel {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t device_id = 0;
  int64_t stream_id = 0;
  int64_t correlation_id = 0;
};

class NcclLaunches {
 public:
  void AddKernel(size_t rank, const NcclKernel& kernel) {
    kernels_[rank].emplace(kernel.correlation_id, kernel);
  }
  // Kernels that a launch of this rank may have started.
  bool IsLaunch(size_t rank, int64_t correlation_id) const;
  void AddLaunch(size_t rank, int64_t tid, int64_t begin_ns, int64_t correlation_id);
  // Call after the last AddLaunch.
  void Sort();
  // Kernels launched by |tid| within [begin_ns, end_ns), in order.
  std::vector<NcclKernel> Within(size_t rank, int64_t tid, int64_t begin_ns, int64_t end_ns) const;

 private:
  struct Launch {
    int64_t begin_ns;
    int64_t correlation_id;
  };
  std::unordered_map<size_t, std::unordered_map<int64_t, NcclKernel>> kernels_;  // by correlation
  std::map<std::pair<size_t, int64_t>, std::vector<Launch>> launches_;           // by rank, thread
};

}  // namespace tutti::collector::importers::nsys
