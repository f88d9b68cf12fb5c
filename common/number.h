// Numbers as people read them.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace tutti {

// "48,120"
std::string WithCommas(int64_t number);

}  // namespace tutti
