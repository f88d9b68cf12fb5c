// An SQLite file layer that fails on command, to try what a full or failing disk does to
// a writer. Wraps the default layer; registered under kFaultVfs. For tests.
// One plan for the process: not thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::schema::testing {

inline constexpr const char* kFaultVfs = "tutti-fault";

// What may fail is every call that changes or syncs a file: write, truncate, sync, grow.
struct FaultPlan {
  int64_t fail_call = 0;      // fails the n-th such call from 1 on; 0: none
  bool keep_failing = false;  // and every later one
  int error = 0;              // SQLite's code for it
  // Writes that would make the files in `folder` hold more than `quota_bytes` fail as on
  // a full disk; 0: no limit.
  std::string folder = {};
  int64_t quota_bytes = 0;
};

// Starts counting calls anew. Registers the layer on first use.
void SetFaultPlan(const FaultPlan& plan);
// Calls counted, and calls failed, since the plan was set.
int64_t FaultCalls();
int64_t FaultsInjected();

}  // namespace tutti::schema::testing
