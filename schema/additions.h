// What later versions of the raw tables added, so that a file of an older version can be
// read as if it were of this one: a table that it lacks is empty, a column that it lacks
// is NULL (0 where it is NOT NULL). Anything else that is missing is damage.
//
// A change of raw.sql adds its lines to the list, raises kSchemaVersion and keeps the SQL
// of the version before as history/raw_vN.sql; additions_test.cc compares the two.
// Immutable; callable from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "common/status.h"
#include "schema/catalog.h"
#include "schema/database.h"

namespace tutti::schema {

struct Addition {
  int64_t version;  // that has it first
  std::string_view table;
  std::string_view column;  // "" the whole table
};
std::span<const Addition> Additions();

// Whether a file of `version` lacks the column, because the column or its table is newer.
bool IsNewer(std::string_view table, std::string_view column, int64_t version);

// If a file of `version` lacks a part of `table`: makes a view of this connection that
// stands for the whole table, under its name. The file is not touched.
Status AddMissing(Database& database, const CatalogTable& table, int64_t version);

}  // namespace tutti::schema
