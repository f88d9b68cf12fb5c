// Runs passes in order over one run: names, times and checks each, and records that in
// pass_run. Each pass is one transaction. Analyzing the same files again gives the same
// rows (pass_run.wall_ns apart).
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "analyzer/pass.h"
#include "analyzer/team.h"
#include "common/status.h"

namespace tutti::analyzer {

// Called before each pass: its name, its place from 0, and how many there are.
using PassProgress = std::function<void(std::string_view name, size_t index, size_t count)>;

// `context` has empty derived tables. Stops at the first failure, naming the pass. With a team,
// consecutive passes that work rank by rank are shared; the rows are the same.
Status RunPasses(std::span<const Pass> passes, RunContext& context, const PassProgress& progress,
                 Team* team = nullptr);

}  // namespace tutti::analyzer
