// A run to be analyzed by several processes, and everything that came of it. For tests only;
// failures abort the test program.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/testing/trace_builder.h"
#include "schema/database.h"

namespace tutti::analyzer::testing {

// Ranks that differ in everything, with losses and rows that can't be.
struct UnevenRanks : RunFolder {
  explicit UnevenRanks(int64_t ranks);
};

// Every value of every row of all tables, but the times that passes took.
std::string DumpTables(schema::Database& derived);

}  // namespace tutti::analyzer::testing
