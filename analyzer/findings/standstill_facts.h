// What the diagnosis of a standstill looks at, read from derived tables and raw rows.
// Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/rule.h"
#include "analyzer/metrics/wait_graph.h"

namespace tutti::analyzer {

struct StandstillFacts {
  std::vector<OpenCall> calls;  // by rank, in the order in which they were made
  std::vector<int64_t> collective_of_call;
  std::map<int64_t, schema::CollectiveRow> collectives;  // those of the calls, by id
  std::vector<MemberProgress> members;
};
Result<StandstillFacts> ReadStandstill(RunContext& context, const FindingFacts& facts);

// The last thing that a rank called, in words; "" if nothing of it is known.
Result<std::string> LastCallOf(RunContext& context, const FindingFacts& facts, int64_t rank);

}  // namespace tutti::analyzer
