// Texts of one rank's trace by their ids. Looked up as they are needed and kept.
// Not thread-safe; the database must outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "common/status.h"
#include "schema/database.h"

namespace tutti::exporter {

class TextTable {
 public:
  static Result<TextTable> Open(schema::Database& database);

  // "" for 0 and for an id without a text. Valid as long as the table.
  Result<const std::string*> Find(int64_t id);

 private:
  explicit TextTable(schema::Statement lookup) : lookup_(std::move(lookup)) {}

  schema::Statement lookup_;
  std::unordered_map<int64_t, std::string> texts_;
};

}  // namespace tutti::exporter
