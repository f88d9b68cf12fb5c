// The schema as text for people, made from the comments in raw.sql and derived.sql.
// Pure functions; callable from any thread; the same input gives the same bytes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace tutti::schema {

// docs/schema.md: every table and view with its columns, and the keys of `meta`.
std::string ReferenceMarkdown();

// Every table and view on one line: name and comment.
std::string ReferenceList();

// For `table`; kNotFound, naming similar ones, if there is no such table or view.
Result<std::string> TableMarkdown(std::string_view table);
Result<std::string> TableText(std::string_view table);  // columns aligned, for a terminal
Result<std::string> TableSql(std::string_view table);   // its CREATE statement as commented

// Names of all tables and views.
std::vector<std::string> TableNames();

}  // namespace tutti::schema
