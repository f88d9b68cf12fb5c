// Words about collectives that several rules use.
// Not thread-safe (reads derived tables).
#pragma once

#include <string>

#include "analyzer/run_context.h"
#include "common/status.h"

namespace tutti::analyzer {

// "all_reduce #45 of nccl group default_pg".
Result<std::string> CollectiveName(RunContext& context, const schema::CollectiveRow& row);

}  // namespace tutti::analyzer
