#include "collector/importers/nsys/session.h"

#include <charconv>
#include <string_view>

#include "collector/importers/nsys/table_cursor.h"

namespace tutti::collector::importers::nsys {
namespace {

std::optional<int64_t> WholeNumber(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// utcEpochNs of the first session; whether others differ.
Status ReadStart(ExportDatabase& database, std::optional<int64_t>& start, Session& session) {
  const ExportTable* table = database.Find("TARGET_INFO_SESSION_START_TIME");
  if (table == nullptr) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(TableCursor rows, TableCursor::Open(database, *table, {"utcEpochNs"}));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return OkStatus();
    const std::optional<int64_t> value = rows.Int(0);
    if (!value) continue;
    if (start && *start != *value) session.has_other_starts = true;
    if (!start) start = value;
  }
}

Status ReadHost(ExportDatabase& database, Session& session) {
  const ExportTable* table = database.Find("TARGET_INFO_SYSTEM_ENV");
  if (table != nullptr && table->Has("name")) {
    TUTTI_ASSIGN_OR_RETURN(TableCursor rows, TableCursor::Open(database, *table, {"value"},
                                                               "WHERE name = 'Hostname' LIMIT 1"));
    TUTTI_ASSIGN_OR_RETURN(const bool found, rows.Next());
    if (found) session.host = rows.Text(0).value_or("");
  }
  if (session.host.empty()) session.host = database.Meta("DEVICE_DISPLAY_NAME");
  return OkStatus();
}

Status ReadDuration(ExportDatabase& database, Session& session) {
  const ExportTable* table = database.Find("ANALYSIS_DETAILS");
  if (table == nullptr) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(TableCursor rows, TableCursor::Open(database, *table, {"duration"}));
  TUTTI_ASSIGN_OR_RETURN(const bool found, rows.Next());
  if (!found) return OkStatus();
  const std::optional<int64_t> duration = rows.Int(0);
  if (duration && *duration > 0) session.stop_ns = session.clock.ToTrace(*duration);
  return OkStatus();
}

}  // namespace

std::optional<int64_t> SessionClock::ToTrace(int64_t export_ns) const {
  int64_t trace_ns = 0;
  if (__builtin_add_overflow(export_ns, offset_ns_, &trace_ns)) return std::nullopt;
  return trace_ns;
}

Result<Session> ReadSession(ExportDatabase& database) {
  Session session;
  std::optional<int64_t> start;
  TUTTI_RETURN_IF_ERROR(ReadStart(database, start, session));
  session.has_start = start.has_value();
  int64_t offset = start.value_or(0);
  const bool is_normalized = database.Meta("EXPORT_PARAM_TIME_NORMALIZE") == "true";
  if (is_normalized) {
    offset = 0;
    session.has_start = true;
  }
  const int64_t shift = WholeNumber(database.Meta("EXPORT_PARAM_TIME_SHIFT")).value_or(0);
  if (__builtin_sub_overflow(offset, shift, &offset)) {
    return BadDataError(database.connection().path() + ": the session's start is out of range");
  }
  session.clock = SessionClock(offset);
  TUTTI_RETURN_IF_ERROR(ReadHost(database, session));
  if (!is_normalized) TUTTI_RETURN_IF_ERROR(ReadDuration(database, session));
  session.product = database.Meta("EXPORT_PRODUCT_NAME");
  const std::string version = database.Meta("EXPORT_PRODUCT_VERSION");
  if (!version.empty()) session.product += (session.product.empty() ? "" : " ") + version;
  return session;
}

}  // namespace tutti::collector::importers::nsys
