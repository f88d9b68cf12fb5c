// How a virtual table of a run (run_table.h) is read: the choice that SQLite's planner
// and the table agree on, as text (SQLite keeps it as idxStr) and back. For the schema
// folder only. Pure; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/catalog.h"

struct sqlite3_index_info;

namespace tutti::schema {

// Columns of a virtual table by number.
struct RunColumns {
  static constexpr int kRank = 0;  // where the table is per rank
  static constexpr int kAttempt = 1;
  static constexpr int kOwnColumns = 2;

  // per_rank: `rank` and `attempt` come first.
  RunColumns(const CatalogTable& source, bool per_rank);

  std::string Declaration() const;  // "CREATE TABLE x (…)"
  // The file's column behind a number; nullptr for rank and attempt.
  const CatalogColumn* column(int number) const { return columns[static_cast<size_t>(number)]; }

  const CatalogTable& table;
  bool per_rank;
  std::vector<const CatalogColumn*> columns;
  int key = -1;  // number of a primary key that is one column, else -1
};

// `column operator parameter`.
struct RunTerm {
  int column;
  std::string op;  // "=", "<", "<=", ">", ">=", "<>"
};

struct RunPlan {
  uint64_t used = 0;           // bit n: column n is read; bit 63: it and all above
  bool by_key = false;         // rows of a file must come ordered by its key
  std::vector<RunTerm> terms;  // in the order of the values that SQLite passes

  bool Uses(int column) const { return (used >> (column < 63 ? column : 63) & 1) != 0; }
  std::string ToText() const;
  static RunPlan FromText(std::string_view text);

  // The statement for one file. Terms on rank and attempt are not in it; the others are
  // its parameters ?1, ?2, … in order. Columns that are not used come as NULL.
  std::string Sql(const RunColumns& columns) const;
};

// Answers SQLite's xBestIndex. `files` is how many files there are, `rows` about how many
// rows one has; `one_attempt`: all files are of the same attempt.
RunPlan ChoosePlan(const RunColumns& columns, int64_t files, int64_t rows, bool one_attempt,
                   sqlite3_index_info* info);

}  // namespace tutti::schema
