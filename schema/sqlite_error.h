// SQLite's outcomes as Status. For the schema folder only.
#pragma once

#include <string>

#include "common/status.h"

struct sqlite3;

namespace tutti::schema {

// "PATH: " of the connection's file, or "" for a database in memory.
std::string PrefixOf(sqlite3* database);

// What a failed call means, as one line: code is its result, the text the connection's
// last error. SQL that can't be run is kUsage; a broken or refused content is kBadData;
// what the system refused (full disk, permissions, a lock) is kIo.
Status ErrorOf(sqlite3* database, int code);

}  // namespace tutti::schema
