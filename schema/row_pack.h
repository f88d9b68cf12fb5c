// Rows of any table, and what goes with them, as bytes for another process of the same build:
// nothing is kept of them between builds.
//
//   Packer packer;
//   packer.AddRows(LayoutOf<LaneRow>(), rows.data(), rows.size());
//   ... elsewhere ...
//   TUTTI_ASSIGN_OR_RETURN(const int64_t rows, InsertPacked(database, packer.bytes()));
//
// Not thread-safe. Bytes that end too early are kBadData.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/status.h"
#include "schema/database.h"
#include "schema/row.h"

namespace tutti::schema {

class Packer {
 public:
  void Add(int64_t number);
  void Add(std::string_view text);
  // `count` rows that lie `layout.row_bytes` apart. Columns that are left out of the layout get
  // their default when the rows are inserted.
  void AddRows(const RowLayout& layout, const void* rows, size_t count);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// Reads what a Packer added, in its order. The bytes outlive it.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  bool at_end() const { return rest_.empty(); }
  Result<int64_t> Number();
  Result<std::string_view> Text();
  // One value of a row, bound to the statement.
  Status BindTo(Statement& statement, int parameter);

 private:
  Result<std::string_view> Take(size_t count);
  std::string_view rest_;
};

// Inserts everything that AddRows added; a row that a table refuses is an error. Returns how
// many rows there were.
Result<int64_t> InsertPacked(Database& database, std::string_view bytes);

// A whole database as SQLite writes it, and the other way round: what `database` held before is
// gone. No statement of it may be at work.
Result<std::string> ImageOf(Database& database);
Status LoadImage(Database& database, std::string_view image);

}  // namespace tutti::schema
