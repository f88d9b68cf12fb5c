// The viewer in a window of the desktop (GLFW, OpenGL 3).
#pragma once

#include "common/status.h"
#include "viewer/app/state.h"
#include "viewer/viewer.h"

namespace tutti::viewer {

// Returns when the window is closed. kUnavailable without a display.
Status RunWindow(State* state, const ViewOptions& options);

}  // namespace tutti::viewer
