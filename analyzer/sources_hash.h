// Identifies what an analysis is made by. The build computes it (tools/cmake/hash_sources.cmake)
// of the analyzer's sources, the metrics it computes, and the SQL of its tables.
#pragma once

namespace tutti::analyzer {

extern const char* const kSourcesHash;  // 16 hexadecimal digits

}  // namespace tutti::analyzer
