#include "schema/sqlite_error.h"

#include <sqlite3.h>

#include <string>

#include "common/text.h"

namespace tutti::schema {
namespace {

StatusCode CodeOf(int primary_code) {
  switch (primary_code) {
    case SQLITE_ERROR:
    case SQLITE_AUTH:
    case SQLITE_RANGE:
    case SQLITE_MISUSE:
      return StatusCode::kUsage;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
    case SQLITE_INTERRUPT:
    case SQLITE_NOMEM:
      return StatusCode::kBadData;
    default:
      return StatusCode::kIo;
  }
}

// SQLite quotes the file's own text in messages. On one line, and no more of it than helps.
std::string Message(sqlite3* database) {
  constexpr size_t kLongest = 200;
  std::string text = ToPrintableText(sqlite3_errmsg(database));
  if (text.size() > kLongest) text = ToPrintableText(text.substr(0, kLongest)) + "…";
  return text;
}

std::string TextOf(sqlite3* database, int code) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return "the disk is full";
    case SQLITE_NOTADB:
      return "not an SQLite database";
    case SQLITE_CORRUPT:
      return "the database is damaged (" + Message(database) + ")";
    case SQLITE_TOOBIG:
      return "a value is larger than this build reads (16 MiB)";
    case SQLITE_NOMEM:
      return "needs more memory than it may have";
    case SQLITE_INTERRUPT:
      return "stopped: it took longer than it may";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "in use by another process";
    case SQLITE_AUTH:
      return "only statements that read are allowed";
    case SQLITE_READONLY:
      return "can't be read before it is recovered; open it once with the sqlite3 program";
    case SQLITE_CANTOPEN:
      return "can't be opened (" + std::string(sqlite3_errstr(code)) + ")";
    case SQLITE_IOERR:
      return "input/output error (SQLite code " + std::to_string(code) + ")";
    default:
      return Message(database);
  }
}

}  // namespace

std::string PrefixOf(sqlite3* database) {
  const char* path = database == nullptr ? nullptr : sqlite3_db_filename(database, "main");
  if (path == nullptr || *path == '\0') return "";
  return std::string(path) + ": ";
}

Status ErrorOf(sqlite3* database, int code) {
  return {CodeOf(code & 0xff), PrefixOf(database) + TextOf(database, code)};
}

}  // namespace tutti::schema
