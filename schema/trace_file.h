// Opening a trace that may come from anywhere: the first thing that every reader does.
//
// What is checked before a row is read: that it is an SQLite database that Tutti wrote,
// of a schema version that this build knows, and that every table this build reads is a
// plain table with the columns it expects, so that a view or a generated column made to
// look like one is never evaluated. Failures are kBadData (kNotFound for no file), one
// line with the file's path. Not thread-safe.
#pragma once

#include <string>

#include "common/status.h"
#include "schema/catalog.h"
#include "schema/database.h"

namespace tutti::schema {

// A rank's file, finished or `.part`.
Result<Database> OpenRankFile(const std::string& path, ReadOptions options = {});
// The derived tables of a run (run.sqlite).
Result<Database> OpenRunFile(const std::string& path, ReadOptions options = {});

// application_id and user_version.
Status CheckIdentity(Database& database);
// `table` is there as a plain table with (at least) its columns, none of them generated.
// Of an older version's file: those that it had then; the rest reads as additions.h says.
Status CheckTable(Database& database, const CatalogTable& table);

}  // namespace tutti::schema
