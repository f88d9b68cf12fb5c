// Makes SIGINT, SIGTERM and SIGHUP a question that long work asks now and then, so that it can
// take back the files it has made so far. The second such signal ends the process at once.
#pragma once

#include <signal.h>

#include <array>

#include "common/status.h"

namespace tutti::collector::os {

// While it lives, signals are noted. Signals that were ignored stay ignored. One at a time;
// made and destroyed by one thread.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  // The first that arrived since the program began, 0 none. Any thread.
  static int Signal();
  // kUnavailable once one has arrived. Any thread; cheap.
  static Status Check();

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace tutti::collector::os
