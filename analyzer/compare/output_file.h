// Files that other programs watch or add to. Callable from any thread.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace tutti::analyzer::compare {

// Replaces `path` as a whole: a reader sees the old text or the new one, never a part. Follows
// the usual mode (0666 less umask): collectors of other users read it.
Status ReplaceFile(const std::string& path, std::string_view text);

// Adds to the end, as GitHub's step summary wants it; makes the file if there is none.
Status AppendToFile(const std::string& path, std::string_view text);

}  // namespace tutti::analyzer::compare
