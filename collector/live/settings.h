// What `tutti record --live` was asked for.
#pragma once

#include <cstdint>

#include "collector/live/step_follower.h"
#include "collector/live/window.h"

namespace tutti::collector::live {

struct LiveSettings {
  WindowLimits window = {};
  int64_t most_dumps = 10;  // that the recorder makes by itself
};

}  // namespace tutti::collector::live
