// Version of this build, as in CMakeLists.txt.
#pragma once

namespace tutti::collector {

inline constexpr char kVersion[] = TUTTI_VERSION;

}  // namespace tutti::collector
