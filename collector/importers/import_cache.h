// Where imports lie that nobody asked to keep: $XDG_CACHE_HOME/tutti/imports (else under
// ~/.cache), one run directory an input, named by a hash of the input's state and of this
// build. Entries that were not used for a week are removed when a new one is made.
#pragma once

#include <string>
#include <string_view>

#include "common/status.h"

namespace tutti::collector::importers {

// The directory, made if it is not there. kUnavailable if there is no place for one.
Result<std::string> ImportCacheDirectory();

// Name of the entry for a file or a directory as it is now: changes with the path, and with
// names, sizes and times of the files.
Result<std::string> ImportCacheKey(const std::string& path);

// Marks an entry as used; whether there is one.
bool TouchImport(const std::string& entry_path);

// Entries have this behind their name until they are complete.
inline constexpr std::string_view kUnfinished = ".new";

// Removes entries that were not used for long, and those whose maker was killed.
void RemoveOldImports(const std::string& directory);

}  // namespace tutti::collector::importers
