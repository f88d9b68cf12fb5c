#include "schema/additions.h"

#include <algorithm>
#include <string>

namespace tutti::schema {
namespace {

constexpr Addition kAdditions[] = {
    {2, "import_source", ""},
    {2, "device", "warp_size"},
    {2, "device", "max_threads_per_sm"},
    {2, "device", "registers_per_sm"},
    {2, "device", "shared_bytes_per_sm"},
    {2, "communicator", "last_enqueued_sequence"},
    {2, "communicator", "last_started_sequence"},
    {2, "communicator", "last_completed_sequence"},
    {2, "gpu_range", ""},
    {2, "cpu_op", "external_id"},
    {2, "python_call", ""},
    {2, "api_call", "external_id"},
    {2, "api_call", "api"},
    {2, "kernel", "external_id"},
    {2, "overhead", ""},
    {2, "flow", ""},
    {2, "collective_source", "state"},
    {2, "collective_source", "shapes_id"},
    {2, "collective_source", "stack_id"},
    {2, "memory_event", "stream_id"},
    {2, "memory_event", "action"},
    {2, "memory_event", "stack_id"},
    {2, "memory_segment", ""},
    {2, "memory_block", ""},
};

// The table as a query on what the file has of it. Names are those of the embedded SQL.
std::string Substitute(const CatalogTable& table, int64_t version) {
  const bool is_absent = IsNewer(table.name, "", version);
  std::string columns;
  for (const CatalogColumn& column : table.columns) {
    columns += columns.empty() ? "" : ", ";
    if (IsNewer(table.name, column.name, version))
      columns += column.nullable ? "NULL AS " : "0 AS ";
    columns += '"' + column.name + '"';
  }
  return "SELECT " + columns + (is_absent ? " WHERE 0" : " FROM main.\"" + table.name + '"');
}

}  // namespace

std::span<const Addition> Additions() { return kAdditions; }

bool IsNewer(std::string_view table, std::string_view column, int64_t version) {
  return std::ranges::any_of(kAdditions, [&](const Addition& addition) {
    return addition.version > version && addition.table == table &&
           (addition.column.empty() || addition.column == column);
  });
}

Status AddMissing(Database& database, const CatalogTable& table, int64_t version) {
  const bool complete = std::ranges::none_of(kAdditions, [&](const Addition& addition) {
    return addition.version > version && addition.table == table.name;
  });
  return complete ? OkStatus() : database.AddView(table.name, Substitute(table, version));
}

}  // namespace tutti::schema
