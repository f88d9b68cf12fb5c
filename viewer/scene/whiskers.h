// How exact a moment is: from where to where it may lie, by the error of its rank's clock.
#pragma once

#include <span>
#include <vector>

#include "viewer/scene/scene.h"

namespace tutti::viewer {

// Around the begins of those of the events that are on screen; none where the error is unknown,
// less than a pixel, or of ranks that share a clock.
std::vector<WhiskerMark> MarkWhiskers(std::span<const EventRef> events, const RunSummary& summary,
                                      const RankTraces& ranks, const Scene& scene);

}  // namespace tutti::viewer
