// What OpenGL has drawn, as a picture. For the thread whose context is current.
#pragma once

#include <string>

#include "common/status.h"
#include "viewer/platform/png.h"

namespace tutti::viewer {

// Of the framebuffer that is bound, from its lower left corner.
Image ReadFramebuffer(int width, int height);

// Keeps a picture in `folder`, beside those that are there: "NAME.png", "NAME-2.png", … What of
// `name` can't be in a file's name is left out. Returns its path.
Result<std::string> KeepPicture(const Image& image, const std::string& folder,
                                const std::string& name);

}  // namespace tutti::viewer
