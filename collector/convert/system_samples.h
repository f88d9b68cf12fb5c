// What the collector read from /proc about a process -> counter, counter_sample. One thread.
#pragma once

#include "collector/convert/context.h"
#include "collector/spool/format.h"

namespace tutti::collector::convert {

class SystemSamples {
 public:
  SystemSamples(Context& context, clock::Anchor anchor) : context_(context), anchor_(anchor) {}

  void OnSample(const spool::SystemSample& sample);

  // CPU time of the process as last read, -1 if it never was.
  int64_t cpu_user_ns() const { return cpu_user_ns_; }
  int64_t cpu_system_ns() const { return cpu_system_ns_; }

 private:
  void WriteCounters();

  Context& context_;
  clock::Anchor anchor_;
  int64_t first_counter_ = -1;  // id of the first of our counters, -1 before they are written
  int64_t cpu_user_ns_ = -1;
  int64_t cpu_system_ns_ = -1;
};

}  // namespace tutti::collector::convert
