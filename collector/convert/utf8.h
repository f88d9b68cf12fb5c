// Text from a traced process may hold any bytes; what we store is UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace tutti::collector::convert {

// |bytes| with every NUL and every byte that is not part of well-formed UTF-8 (RFC 3629:
// no overlong forms, no surrogates) replaced by U+FFFD.
std::string ToUtf8(std::string_view bytes);

}  // namespace tutti::collector::convert
