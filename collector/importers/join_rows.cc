#include "collector/importers/join_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

#include "schema/row.h"
#include "schema/rows.h"

namespace tutti::collector::importers {
namespace {

using Names = std::vector<std::string_view>;

// Kept by whoever writes the file, or joined by what they say instead of by their number.
const Names kOwnTables = {"meta",   "string", "import_source", "process", "thread",
                          "device", "stream", "communicator",  "counter", "trace_stat"};

// Columns with a number that another table explains, and the table that says the new one.
const std::map<std::string_view, std::string_view> kRenumbered = {
    {"name_id", "new_string"},     {"domain_id", "new_string"},
    {"category_id", "new_string"}, {"kind_id", "new_string"},
    {"op_id", "new_string"},       {"dtype_id", "new_string"},
    {"loader_id", "new_string"},   {"shapes_id", "new_string"},
    {"stack_id", "new_string"},    {"tid", "new_thread"},
    {"end_tid", "new_thread"},     {"begin_tid", "new_thread"},
    {"enqueue_tid", "new_thread"}, {"communicator_id", "new_communicator"},
    {"counter_id", "new_counter"}};

// Numbers that tie rows of one capture together; those of a line are of one kind.
const std::vector<Names> kTies = {
    {"correlation_id"}, {"external_id"}, {"python_id", "parent_python_id"}, {"event_sync_id"}};

constexpr std::string_view kMaps = R"(
CREATE TEMP TABLE new_thread (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE new_string (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE new_communicator (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
CREATE TEMP TABLE new_counter (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);
)";

// What both have is known by what it says; the id of what is new goes behind those that are there.
constexpr std::string_view kMatch = R"(
INSERT INTO new_string
SELECT l.id, coalesce(min(m.id), l.id + 1 + (SELECT max(id) FROM main.string))
FROM later.string AS l LEFT JOIN main.string AS m ON m.text = l.text
GROUP BY l.id;

INSERT INTO new_communicator
SELECT l.id, coalesce(min(m.id), l.id + 1 + (SELECT coalesce(max(id), 0) FROM main.communicator))
FROM later.communicator AS l LEFT JOIN main.communicator AS m
  ON m.backend = l.backend AND m.uid IS l.uid AND m.description IS l.description
  AND m.group_size IS l.group_size AND m.global_ranks IS l.global_ranks
GROUP BY l.id;

INSERT INTO new_counter
SELECT l.id, coalesce(min(m.id), l.id + 1 + (SELECT coalesce(max(id), 0) FROM main.counter))
FROM later.counter AS l LEFT JOIN main.counter AS m
  ON m.name = l.name AND m.unit = l.unit AND m.kind = l.kind AND m.device_id IS l.device_id
GROUP BY l.id;

INSERT OR IGNORE INTO main.device SELECT * FROM later.device;
INSERT OR IGNORE INTO main.stream SELECT * FROM later.stream;
)";

// Tables whose rows are matched, and the map of their numbers.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kMatched = {
    {{"string", "new_string"}, {"communicator", "new_communicator"}, {"counter", "new_counter"}}};

bool Contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<const schema::RowLayout*> AllLayouts() {
  return std::apply(
      [](const auto&... row) {
        return std::vector{&schema::LayoutOf<std::decay_t<decltype(row)>>()...};
      },
      schema::AllRawRows{});
}

// The extreme value of some columns in all tables of a file, as a query.
std::string Extreme(std::string_view function, std::string_view file, const Names& columns) {
  std::string values;
  for (const schema::RowLayout* layout : AllLayouts()) {
    for (const schema::ColumnBinding& column : layout->columns) {
      if (!Contains(columns, column.name)) continue;
      const std::string name(column.name);
      values += (values.empty() ? "SELECT " : " UNION ALL SELECT ") + name + " AS value FROM " +
                std::string(file) + "." + std::string(layout->table) + " WHERE " + name + " > 0";
    }
  }
  return "SELECT " + std::string(function) + "(value) FROM (" + values + ")";
}

// By how much the numbers of a tie are moved.
Result<int64_t> ShiftOf(schema::Database& database, const Names& columns) {
  using Number = std::optional<int64_t>;
  TUTTI_ASSIGN_OR_RETURN(const Number last,
                         database.QueryOne<Number>(Extreme("max", "main", columns)));
  TUTTI_ASSIGN_OR_RETURN(const Number first,
                         database.QueryOne<Number>(Extreme("min", "later", columns)));
  return last && first && *first <= *last ? *last : 0;
}

using Shifts = std::map<std::string_view, int64_t>;  // by column

Result<Shifts> AllShifts(schema::Database& database) {
  Shifts shifts;
  for (const Names& columns : kTies) {
    TUTTI_ASSIGN_OR_RETURN(const int64_t shift, ShiftOf(database, columns));
    for (const std::string_view column : columns) shifts[column] = shift;
  }
  return shifts;
}

std::string Mapped(std::string_view map, const std::string& column) {
  return "(SELECT new FROM " + std::string(map) + " WHERE old = " + column + ")";
}

// The value of a column in the joined file.
std::string NewValue(const std::string& column, const std::string& new_id, const Shifts& shifts) {
  if (column == "id") return new_id;
  if (const auto found = kRenumbered.find(column); found != kRenumbered.end()) {
    return Mapped(found->second, column);
  }
  const auto shift = shifts.find(column);
  if (column == "segment_id") return column + " + " + std::to_string(shift->second);
  if (shift == shifts.end() || shift->second == 0) return column;
  return column + " + " + std::to_string(shift->second) + " * (" + column + " > 0)";
}

Status CopyRows(schema::Database& database, const schema::RowLayout& layout,
                const std::string& new_id, const Shifts& shifts, const std::string& where) {
  std::string names;
  std::string values;
  for (const schema::ColumnBinding& column : layout.columns) {
    const std::string name(column.name);
    names += (names.empty() ? "" : ", ") + name;
    values += (values.empty() ? "" : ", ") + NewValue(name, new_id, shifts);
  }
  const std::string table(layout.table);
  return database.Execute("INSERT INTO main." + table + " (" + names + ") SELECT " + values +
                          " FROM later." + table + " " + where);
}

// Of the tables whose rows are matched, those that are new.
Status CopyUnmatched(schema::Database& database) {
  TUTTI_RETURN_IF_ERROR(database.Execute(std::string(kMatch)));
  for (const auto& [table, map] : kMatched) {
    for (const schema::RowLayout* layout : AllLayouts()) {
      if (layout->table != table) continue;
      const std::string is_new =
          "WHERE " + Mapped(map, "id") + " NOT IN (SELECT id FROM main." + std::string(table) + ")";
      TUTTI_RETURN_IF_ERROR(CopyRows(database, *layout, Mapped(map, "id"), {}, is_new));
    }
  }
  return OkStatus();
}

Result<int64_t> NextIdOf(schema::Database& database, std::string_view table) {
  return database.QueryOne<int64_t>("SELECT coalesce(max(id) + 1, 0) FROM main." +
                                    std::string(table));
}

Status CopyEvents(schema::Database& database) {
  TUTTI_ASSIGN_OR_RETURN(Shifts shifts, AllShifts(database));
  TUTTI_ASSIGN_OR_RETURN(shifts["segment_id"], NextIdOf(database, "memory_segment"));
  for (const schema::RowLayout* layout : AllLayouts()) {
    if (Contains(kOwnTables, layout->table)) continue;
    int64_t next_id = 0;
    const bool has_id = std::ranges::any_of(
        layout->columns, [](const schema::ColumnBinding& column) { return column.name == "id"; });
    if (has_id) {
      TUTTI_ASSIGN_OR_RETURN(next_id, NextIdOf(database, layout->table));
    }
    TUTTI_RETURN_IF_ERROR(
        CopyRows(database, *layout, "id + " + std::to_string(next_id), shifts, ""));
  }
  return OkStatus();
}

Status MapThreads(schema::Database& database, const ThreadMap& tids) {
  TUTTI_ASSIGN_OR_RETURN(schema::Statement insert,
                         database.Prepare("INSERT INTO new_thread VALUES (?1, ?2)"));
  for (const auto& [old_tid, new_tid] : tids) {
    TUTTI_RETURN_IF_ERROR(insert.BindAll(old_tid, new_tid));
    TUTTI_RETURN_IF_ERROR(insert.Run());
  }
  return OkStatus();
}

}  // namespace

Status JoinRows(schema::Database& database, const std::string& later_path, const ThreadMap& tids) {
  {
    TUTTI_ASSIGN_OR_RETURN(schema::Statement attach, database.Prepare("ATTACH ?1 AS later"));
    TUTTI_RETURN_IF_ERROR(attach.BindAll(later_path));
    TUTTI_RETURN_IF_ERROR(attach.Run());
  }
  TUTTI_ASSIGN_OR_RETURN(schema::Transaction transaction, schema::Transaction::Begin(database));
  TUTTI_RETURN_IF_ERROR(database.Execute(std::string(kMaps)));
  TUTTI_RETURN_IF_ERROR(MapThreads(database, tids));
  TUTTI_RETURN_IF_ERROR(CopyUnmatched(database));
  TUTTI_RETURN_IF_ERROR(CopyEvents(database));
  return transaction.Commit();
}

}  // namespace tutti::collector::importers
