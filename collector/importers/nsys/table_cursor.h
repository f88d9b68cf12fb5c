// Rows of one table of an export, column by column, whatever the file holds there.
// Columns that the table lacks read as NULL. A value whose type the column can't have
// reads as NULL and marks the row damaged.
// Not thread-safe; the database must outlive the cursor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collector/importers/nsys/export_database.h"
#include "common/status.h"
#include "schema/statement.h"

namespace tutti::collector::importers::nsys {

class TableCursor {
 public:
  // |columns| are read by their place in this list. |suffix| is SQL after FROM.
  static Result<TableCursor> Open(ExportDatabase& database, const ExportTable& table,
                                  const std::vector<std::string_view>& columns,
                                  std::string_view suffix = "");

  // False: no more rows.
  Result<bool> Next();

  // Of the current row; the row's number in the order read where the table has no rowid.
  int64_t rowid() const { return rowid_; }
  const std::string& table() const { return table_; }
  bool Has(size_t column) const { return place_[column] >= 0; }

  std::optional<int64_t> Int(size_t column);
  std::optional<double> Number(size_t column);  // INTEGER or REAL
  std::optional<std::string> Text(size_t column);
  schema::NullableValue Any(size_t column);

  // True if a value read since Next had a type that its column can't have.
  bool damaged() const { return damaged_; }

 private:
  TableCursor(schema::Statement statement, std::string table, std::vector<int> place,
              bool has_rowid)
      : statement_(std::move(statement)),
        table_(std::move(table)),
        place_(std::move(place)),
        has_rowid_(has_rowid) {}

  schema::Statement statement_;
  std::string table_;
  std::vector<int> place_;  // in the statement, by place in |columns|; -1 not there
  bool has_rowid_ = true;
  bool damaged_ = false;
  int64_t rowid_ = 0;
};

}  // namespace tutti::collector::importers::nsys
