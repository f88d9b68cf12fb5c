// Typed reads: rows of a table as structs of rows.h (or any TUTTI_ROW type).
//
//   Status status = schema::ForEach<schema::StepRow>(
//       database, "WHERE end_ns IS NOT NULL ORDER BY begin_ns",
//       [&](const schema::StepRow& step) { lengths.push_back(*step.end_ns - step.begin_ns); });
//
// Works on one rank's file and on a RunView's connection alike (there add
// "WHERE rank = ?1 AND attempt = ?2"). Every value's stored type is checked; the first
// that is wrong ends the read with kBadData, naming file, table, column and type.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/status.h"
#include "schema/database.h"
#include "schema/row.h"

namespace tutti::schema {

// "SELECT "a", "b" FROM "table" " for a layout.
std::string SelectFrom(const RowLayout& layout);

// Calls `function(const Row&)` for each row that `suffix` (WHERE …, ORDER BY …, LIMIT …)
// leaves; `parameters` are bound to ?1, ?2, …. The function returns void, or Status to
// stop at the first error. The row lives until the function returns.
template <typename Row, typename Function, typename... Values>
Status ForEach(Database& database, std::string_view suffix, Function&& function,
               const Values&... parameters) {
  const RowLayout& layout = LayoutOf<Row>();
  TUTTI_ASSIGN_OR_RETURN(Statement statement,
                         database.Prepare(SelectFrom(layout) + std::string(suffix)));
  TUTTI_RETURN_IF_ERROR(statement.BindAll(parameters...));
  Row row{};
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return OkStatus();
    if (!statement.ReadRow(layout, &row)) return statement.ReadError(layout);
    if constexpr (std::is_void_v<std::invoke_result_t<Function&, const Row&>>) {
      function(std::as_const(row));
    } else {
      TUTTI_RETURN_IF_ERROR(function(std::as_const(row)));
    }
  }
}

// All rows that `suffix` leaves. For tables that are known to be small.
template <typename Row, typename... Values>
Result<std::vector<Row>> ReadAll(Database& database, std::string_view suffix = "",
                                 const Values&... parameters) {
  std::vector<Row> rows;
  TUTTI_RETURN_IF_ERROR(ForEach<Row>(
      database, suffix, [&](const Row& row) { rows.push_back(row); }, parameters...));
  return rows;
}

}  // namespace tutti::schema
