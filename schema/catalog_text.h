// The textual half of catalog.h: statements and comments of SQL that is written as
// raw.sql is: statements separated by blank lines, one or more columns a line, comments
// with "--". For the schema folder only. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "schema/catalog.h"

namespace tutti::schema {

// One block of the file.
struct SqlPiece {
  std::string comment;  // the comment lines above the statement, as paragraphs
  std::string sql;      // the statement without its semicolon; empty: only a comment
};

std::vector<SqlPiece> SplitSql(std::string_view sql);

// "CREATE TABLE name (…" -> "name".
std::string CreatedName(std::string_view create);
// "CREATE VIEW name AS SELECT …" -> "SELECT …"; empty for a table.
std::string SelectOf(std::string_view create);
// Names behind FROM and JOIN, in order.
std::vector<std::string> TablesOf(std::string_view select);
// Gives table.columns the comments found in table.sql.
void AddColumnComments(CatalogTable& table);

}  // namespace tutti::schema
