// The table StringIds of an export: texts that other tables name by number. Looked up
// one at a time where the number is the row's own (as Nsight writes it), so that a file
// with gigabytes of texts needs no memory; else the table is read once.
// Not thread-safe; the database must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "collector/importers/nsys/export_database.h"
#include "common/status.h"
#include "schema/statement.h"

namespace tutti::collector::importers::nsys {

class StringIds {
 public:
  static Result<StringIds> Open(ExportDatabase& database);

  // Absent if the file has no such text.
  Result<std::optional<std::string>> Find(int64_t id);

 private:
  StringIds() = default;
  Status ReadAll(ExportDatabase& database, const ExportTable& table);

  std::optional<schema::Statement> lookup_;
  std::unordered_map<int64_t, std::string> texts_;  // where there is no lookup
};

}  // namespace tutti::collector::importers::nsys
