// Connections to SQLite files. Two kinds of trust:
//
//   Create, OpenTrusted   files that this process writes: rank files, run.sqlite
//   OpenReadOnly          files from anywhere, hostile ones included: opened read-only,
//                         nothing in the file's schema can run (no views, no triggers,
//                         no functions with side effects, no extensions), sizes are
//                         limited, only SELECT is allowed, and a deadline can be set
//
// Not thread-safe: a connection and its statements belong to one thread at a time.
// SQLite's heap is limited once for the process (2 GiB), on the first open.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "common/status.h"
#include "schema/statement.h"

struct sqlite3;

namespace tutti::schema {

struct ReadOptions {
  // Runs SQLite's own check of the whole file first (about 8 million rows a second).
  // Without it a damaged page is found when it is read.
  bool quick_check = true;
};

class Database {
 public:
  // A new, empty file with mode 0600. kIo if anything exists at `path`, even a
  // dangling link. `vfs` names SQLite's file layer, nullptr the default (tests).
  static Result<Database> Create(const std::string& path, const char* vfs = nullptr);
  // An existing file, for reading and writing.
  static Result<Database> OpenTrusted(const std::string& path);
  static Result<Database> OpenMemory();
  // An existing file that nobody vouches for. kNotFound if there is none; kBadData if
  // it is no database or a damaged one. The file must not be a symbolic link itself;
  // folders on the way may be. A file that its writer left behind with a write-ahead
  // log (killed, full disk) opens, too; nothing is written to it.
  static Result<Database> OpenReadOnly(const std::string& path, ReadOptions options = {});

  ~Database();
  Database(Database&& other) noexcept;
  Database& operator=(Database&& other) noexcept;

  // Runs one or more statements, ignoring rows.
  Status Execute(const std::string& sql);
  // Exactly one statement.
  Result<Statement> Prepare(std::string_view sql);
  // The first column of the first row; kNotFound if there is no row.
  template <typename T, typename... Values>
  Result<T> QueryOne(std::string_view sql, const Values&... values);

  // From now on, only statements that read are prepared. Recursive queries are refused
  // unless allowed. Read-only connections of OpenReadOnly are restricted already.
  void RestrictToReading(bool allow_recursive);
  // For connections of OpenReadOnly: a view that only this connection sees, over a query of
  // the caller's own. It hides a table of the same name.
  Status AddView(const std::string& name, const std::string& select);
  // From now on, a text or blob of more than 16 MiB is kBadData, also one that a function
  // would make. So it is on connections of OpenReadOnly.
  void LimitValues();
  // Statements fail with kBadData from `budget` from now on; a negative one lifts it.
  void SetDeadline(std::chrono::milliseconds budget);

  // Absolute path; empty for a database in memory.
  std::string path() const;
  sqlite3* handle() const { return database_; }  // for the schema folder only

 private:
  struct Guard;
  explicit Database(sqlite3* database);
  static Result<Database> Open(const std::string& path, int flags, const char* vfs);
  static Result<Database> OpenHostile(const std::string& path, bool exclusive);

  sqlite3* database_ = nullptr;
  std::unique_ptr<Guard> guard_;
};

// BEGIN IMMEDIATE … COMMIT; rolled back if Commit was not called or failed.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& database);
  ~Transaction();
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;

  Status Commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}
  Database* database_;  // null once it ended
};

template <typename T, typename... Values>
Result<T> Database::QueryOne(std::string_view sql, const Values&... values) {
  TUTTI_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  TUTTI_RETURN_IF_ERROR(statement.BindAll(values...));
  TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
  if (!found) return NotFoundError("no row for: " + std::string(sql));
  return statement.Get<T>(0);
}

}  // namespace tutti::schema
