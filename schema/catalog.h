// What tables, columns and views there are, with the comments that raw.sql and
// derived.sql give them. Everything that must know the schema at run time (the check of
// a file, the view of a run, `tutti schema`, docs/schema.md) reads it from here.
//
// Where a comment is looked for:
//   a table or view   the comment lines directly above its CREATE
//   a column          behind it on its line; one comment may serve all columns of a line
//                     else, that of the column that it REFERENCES
//   a view's column   behind it on its line, else that of the column with its name in the first of
//                     the view's tables that has one
// Immutable once made; callable from any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"

namespace tutti::schema {

struct CatalogColumn {
  std::string name;
  std::string type;  // as declared; empty for a view's computed column
  std::string comment;
  bool nullable = true;
  bool primary_key = false;
};

struct CatalogTable {
  std::string name;
  std::string comment;  // one paragraph
  std::string sql;      // the CREATE statement with its comments
  bool is_view = false;
  std::string select;  // a view's SELECT, else empty
  std::vector<CatalogColumn> columns;

  const CatalogColumn* Find(std::string_view column) const;
};

struct Catalog {
  std::string introduction;          // the comment at the top of the file
  std::vector<CatalogTable> tables;  // tables and views, in the file's order

  const CatalogTable* Find(std::string_view table) const;
};

// Reads SQL text of CREATE TABLE and CREATE VIEW statements. kUsage if it can't be run.
Result<Catalog> ReadCatalog(std::string_view sql);

// Of the embedded SQL.
const Catalog& RawCatalog();
const Catalog& DerivedCatalog();

}  // namespace tutti::schema
