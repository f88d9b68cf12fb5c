// What a rank's trace tells about its calls of collectives, by id.
// Lives no longer than the trace.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "analyzer/input/rank_trace.h"
#include "common/status.h"

namespace tutti::analyzer {

class CallSources {
 public:
  static Result<CallSources> Read(RankTrace& trace);

  // nullptr: there is none.
  const CollectiveEvent* Find(int64_t source_id) const;
  // Whether this rank is the root of the operation.
  bool IsRoot(const CollectiveEvent& event) const;

 private:
  std::unordered_map<int64_t, const CollectiveEvent*> events_;
  std::unordered_map<int64_t, int64_t> group_ranks_;  // by communicator
};

// "all_reduce float32 20480 B".
std::string Describe(const CollectiveEvent& event);

}  // namespace tutti::analyzer
