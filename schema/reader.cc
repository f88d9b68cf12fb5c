#include "schema/reader.h"

namespace tutti::schema {

std::string SelectFrom(const RowLayout& layout) {
  std::string columns;
  for (const ColumnBinding& column : layout.columns) {
    columns += (columns.empty() ? "\"" : ", \"") + std::string(column.name) + "\"";
  }
  return "SELECT " + columns + " FROM \"" + std::string(layout.table) + "\" ";
}

}  // namespace tutti::schema
