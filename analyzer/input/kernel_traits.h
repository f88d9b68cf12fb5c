// What kinds of work a rank's kernels, copies and fills are, looked up once per name.
// Not thread-safe; lives no longer than the trace.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/input/rank_trace.h"

namespace tutti::analyzer {

struct KernelTraits {
  std::string category;                   // as in op_stats
  std::optional<bool> uses_tensor_cores;  // empty: it could not
};

class KernelTraitsOf {
 public:
  explicit KernelTraitsOf(const RankTrace& trace) : trace_(trace) {}

  // Categories: those of kernel_names.h, 'copy', 'fill'; of kernels that communicate
  // 'comm_all_reduce' and so on, 'comm_other' where the name does not tell the operation.
  const KernelTraits& operator()(const DeviceEvent& event);

 private:
  const RankTrace& trace_;
  std::map<std::pair<int64_t, KernelRole>, KernelTraits> known_;  // by name_id of kernels
};

}  // namespace tutti::analyzer
