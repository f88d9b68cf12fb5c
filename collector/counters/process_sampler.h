// Reads the system's counters of one process from /proc. Cheap: about 0.1 ms a sample;
// the switches of each thread are read only now and then. One thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "collector/spool/format.h"

namespace tutti::collector::counters {

class ProcessSampler {
 public:
  // |pid| in our pid namespace; |clock_ticks_per_second| as sysconf(_SC_CLK_TCK).
  ProcessSampler(pid_t pid, int64_t clock_ticks_per_second)
      : pid_(pid), clock_ticks_per_second_(clock_ticks_per_second) {}

  // Absent once the process is gone (a zombie has no memory, but still its times).
  std::optional<spool::SystemSample> Read();

 private:
  struct Switches {
    int64_t voluntary = 0;
    int64_t involuntary = 0;
  };
  void AddInput(spool::SystemSample& sample) const;
  void AddRunDelay(spool::SystemSample& sample) const;
  void AddNetwork(spool::SystemSample& sample) const;
  void AddSwitches(spool::SystemSample& sample);
  void ReadSwitches();

  pid_t pid_;
  int64_t clock_ticks_per_second_;
  std::map<pid_t, Switches> of_thread_;
  Switches of_ended_;  // of threads that are gone: the sum never falls
  int64_t switches_read_ns_ = 0;
};

// Bytes received and sent in the text of /proc/PID/net/dev.
struct NetworkBytes {
  int64_t receive = 0;
  int64_t transmit = 0;
  int64_t loopback = 0;
};
NetworkBytes ParseNetDev(std::string_view text);

}  // namespace tutti::collector::counters
