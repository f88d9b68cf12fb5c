// Why a job stands still whose flight recorders were dumped: who waits for whom.
// Not thread-safe.
#pragma once

#include <vector>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {

// Whether collectives are open and some rank's are known from a flight recorder.
Result<bool> WasDumped(RunContext& context);

// Drafts a finding 'hang' if collectives were open; its ranks are those that hold up the
// others (metrics/wait_graph.h), its evidence names their last call and who waits where.
// Where the open one is itself a mismatch, that is the cause and there is no hang besides.
Status FindStandstill(RunContext& context, const FindingFacts& facts,
                      std::vector<FindingDraft>& drafts);

}  // namespace tutti::analyzer
