// Spreads events that overlap over as many lanes as they need, so that none hides another.
#pragma once

#include <vector>

#include "viewer/model/lane.h"

namespace tutti::viewer {

// Takes events in any order. An event comes to lie below the one that contains it (as calls do on
// a thread), else in the first lane that is free (as kernels of one stream that overlap). Every
// event is in exactly one lane. O(events · (log events + lanes)).
std::vector<Lane> BuildLanes(std::vector<Event> events);

}  // namespace tutti::viewer
