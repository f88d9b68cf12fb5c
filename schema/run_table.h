// One table or view of all files of a run as one virtual table. For the schema folder.
//
// A raw table gets `rank` and `attempt` as its first columns (its own columns of these
// names, if any, give way). Rows come file by file, by rank, then attempt, and within a
// file in the order of its primary key. What a query asks of rank and attempt decides
// which files are opened; comparisons of other columns are handed to each file's own
// SQLite, so that `WHERE rank = 3 AND id = 17` is one look-up in one file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/status.h"
#include "schema/catalog.h"
#include "schema/database.h"
#include "schema/file_pool.h"
#include "schema/run_files.h"

namespace tutti::schema {

// What the virtual tables read. Must outlive the connection they are on.
struct RunSource {
  RunSource(RunFileSet found, size_t max_idle_files)
      : files(std::move(found)), pool(max_idle_files) {
    if (!files.derived.empty()) derived_files.push_back({.path = files.derived});
  }

  RunFileSet files;
  std::vector<RankFile> derived_files;  // run.sqlite, if there is one
  FilePool pool;
};

// Makes the module known to the connection; the tables are then made by MakeRunTable.
Status RegisterRunTables(Database& database, RunSource& source);
// Adds the virtual table for a table or view of RawCatalog() or DerivedCatalog().
Status MakeRunTable(Database& database, const std::string& table);

}  // namespace tutti::schema
