// The critical path over the rows of a scene: where the work that the steps waited for is on
// screen. Pure function; no interface.
#pragma once

#include <span>

#include "viewer/model/event_set.h"
#include "viewer/model/name_table.h"
#include "viewer/replay.h"
#include "viewer/scene/scene.h"

namespace tutti::viewer {

// Marks the pieces, which are in order of time, on the rows that show them: below the event that
// runs, else below its rank's own row. Pieces of less than a pixel are one mark as long as the row
// stays the same. O(pieces on screen · rows of a rank · log events).
std::vector<PathMark> MarkPath(std::span<const PathPiece> pieces, const RunSummary& summary,
                               const RankTraces& ranks, const NameTable& names, const Scene& scene);

}  // namespace tutti::viewer
