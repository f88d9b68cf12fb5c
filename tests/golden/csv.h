// Rows of a CSV file by column name. For tests only; failures abort the test program.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace tutti::golden {

using CsvRow = std::map<std::string, std::string>;

// Cells may stand in double quotes, doubled inside. The first line names the columns.
std::vector<CsvRow> ReadCsv(const std::string& path);

}  // namespace tutti::golden
