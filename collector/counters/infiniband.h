// Reads the counters of the node's InfiniBand and RoCE ports from sysfs. Some microseconds a port,
// no system call that waits. One thread.
#pragma once

#include <string>
#include <vector>

#include "collector/spool/format.h"

namespace tutti::collector::counters {

class InfinibandSampler {
 public:
  // |root|: where sysfs is; the tests have one of their own. TUTTI_SYSFS names another.
  explicit InfinibandSampler(std::string root = DefaultRoot());

  bool has_ports() const { return !ports_.empty(); }

  // One sample of each port, named "mlx5_0/1"; what a port does not count is -1.
  std::vector<spool::NodeSample> Read() const;

 private:
  static std::string DefaultRoot();

  struct Port {
    std::string name;
    std::string counters;  // directory
  };
  std::vector<Port> ports_;
};

}  // namespace tutti::collector::counters
