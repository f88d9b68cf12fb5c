// Many typed rows into a table with one statement: INSERT … SELECT from a virtual
// table that reads the rows where they lie in memory. ./dev bench prints its speed as a
// multiple of prepared one-row INSERTs and as a share of what such a table can reach.
//
// Requires that the struct's layout is the table's (names and order). Not thread-safe;
// the Database must outlive the inserter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "common/status.h"
#include "schema/database.h"
#include "schema/row.h"

namespace tutti::schema {

struct BatchSource;

// The part that does not depend on the row type.
class RawInserter {
 public:
  static Result<std::unique_ptr<RawInserter>> Make(Database& database, const RowLayout& layout);
  ~RawInserter();
  RawInserter(const RawInserter&) = delete;
  RawInserter& operator=(const RawInserter&) = delete;

  // Inserts `count` rows that lie `layout.row_bytes` apart. Returns how many of them the
  // table refused (a constraint, a primary key that exists already); the others are in.
  // Text that is not UTF-8 is stored with U+FFFD for each bad byte. Opens no
  // transaction of its own; on failure the statement's rows are undone.
  Result<int64_t> Insert(const void* rows, size_t count);

 private:
  RawInserter(Database& database, const RowLayout& layout);
  Status Prepare(Database& database, const RowLayout& layout);

  sqlite3* connection_;
  std::string module_;                   // name of the virtual table, unique in the process
  std::unique_ptr<BatchSource> source_;  // what the virtual table reads
  std::optional<Statement> statement_;
};

template <typename Row>
class BatchInserter {
 public:
  static Result<BatchInserter> Make(Database& database) {
    TUTTI_ASSIGN_OR_RETURN(std::unique_ptr<RawInserter> raw,
                           RawInserter::Make(database, LayoutOf<Row>()));
    return BatchInserter(std::move(raw));
  }

  // As RawInserter::Insert.
  Result<int64_t> Insert(std::span<const Row> rows) {
    return raw_->Insert(rows.data(), rows.size());
  }

 private:
  explicit BatchInserter(std::unique_ptr<RawInserter> raw) : raw_(std::move(raw)) {}
  std::unique_ptr<RawInserter> raw_;
};

}  // namespace tutti::schema
