// One rank's trace as CSV files, one a table and one a view: a header line with the columns'
// names, then the rows; NULL is an empty field. Fields with a comma, a quote or a line
// break are quoted (RFC 4180); texts that a spreadsheet would take for a formula (they
// begin with = + - @, a tab or a carriage return) get an apostrophe in front. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "schema/database.h"

namespace tutti::exporter::csv {

struct CsvFile {
  std::string path;
  int64_t rows = 0;
};

// Into |folder|, which must exist. Tables without rows are left out.
Result<std::vector<CsvFile>> WriteCsvTables(schema::Database& trace, const std::string& folder,
                                            bool replace);

// |value| as one field.
std::string Field(const schema::NullableValue& value);

}  // namespace tutti::exporter::csv
