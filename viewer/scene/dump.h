// A scene as text: what goldens compare, and what a person can read without a screen.
#pragma once

#include <string>

#include "viewer/model/name_table.h"
#include "viewer/scene/scene.h"

namespace tutti::viewer {

std::string DumpScene(const Scene& scene, const NameTable& names);

}  // namespace tutti::viewer
