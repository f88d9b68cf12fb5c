#include "schema/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "schema/sqlite_error.h"

namespace tutti::schema {
namespace {

using Clock = std::chrono::steady_clock;

constexpr sqlite3_int64 kHeapLimitBytes = sqlite3_int64{2} << 30;
constexpr int kInstructionsPerDeadlineCheck = 10'000;
constexpr auto kOpenBudget = std::chrono::seconds(5);  // for reading a file's schema
constexpr int kBusyTimeoutMs = 2'000;
constexpr int kLongestValueBytes = 16 << 20;

std::string Reason(int error) { return std::strerror(error); }  // NOLINT(concurrency-mt-unsafe)

// With links in the folders resolved and the last component kept, so that SQLite can be
// told to follow no link at all. Absolute, so never taken for a "file:" URI.
Result<std::string> Resolve(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  std::array<char, PATH_MAX> resolved{};
  if (realpath(folder.c_str(), resolved.data()) == nullptr) {
    return Status(errno == ENOENT ? StatusCode::kNotFound : StatusCode::kIo,
                  path + ": " + Reason(errno));
  }
  return std::string(resolved.data()) + "/" + name;
}

Status CheckIsRegularFile(const std::string& path) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    const int error = errno;
    const StatusCode code = error == ENOENT ? StatusCode::kNotFound : StatusCode::kIo;
    return {code, path + ": " + Reason(error)};
  }
  if (S_ISLNK(info.st_mode)) {
    return BadDataError(path + ": a symbolic link; name the file that it points to");
  }
  if (!S_ISREG(info.st_mode)) return BadDataError(path + ": not a regular file");
  return OkStatus();
}

// The write-ahead log belongs to the file; if someone put a link in its place, stop.
Status CheckLog(const std::string& path) {
  const Status status = CheckIsRegularFile(path + "-wal");
  return status.code() == StatusCode::kNotFound ? OkStatus() : status;
}

bool IsHarmlessPragma(const char* name) {
  static constexpr std::array kNames = {"application_id", "user_version", "table_info",
                                        "table_xinfo",    "table_list",   "page_count",
                                        "page_size",      "journal_mode", "quick_check"};
  for (const char* known : kNames) {
    if (sqlite3_stricmp(name, known) == 0) return true;
  }
  return false;
}

// SQLite calls it while it prepares a statement, for each thing that the statement does.
int AllowReading(void* recursion, int action, const char* first, const char* second, const char*,
                 const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
      return SQLITE_OK;
    case SQLITE_RECURSIVE:
      return recursion != nullptr ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_FUNCTION:
      return sqlite3_stricmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
      return IsHarmlessPragma(first) ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

void Configure(sqlite3* database, int option, int value) {
  sqlite3_db_config(database, option, value, nullptr);
}

// docs/architecture.md, "files from elsewhere": what a hostile file can't do.
void Harden(sqlite3* database) {
  Configure(database, SQLITE_DBCONFIG_DEFENSIVE, 1);
  Configure(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
  Configure(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0);
  Configure(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
  Configure(database, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0);
  sqlite3_drop_modules(database, nullptr);  // so that no virtual table can be connected
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, kLongestValueBytes);
  sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, 100'000);
  sqlite3_limit(database, SQLITE_LIMIT_COLUMN, 200);
  sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(database, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
}

// Did opening fail only because a write-ahead log needs a writer to be read?
bool NeedsExclusive(const std::string& path, sqlite3* database) {
  if (access((path + "-journal").c_str(), F_OK) == 0) return false;  // would be played back
  const int code = sqlite3_errcode(database) & 0xff;
  return code == SQLITE_CANTOPEN || code == SQLITE_IOERR || code == SQLITE_READONLY;
}

}  // namespace

struct Database::Guard {
  Clock::time_point deadline = Clock::time_point::max();

  static int IsOver(void* guard) {
    return Clock::now() >= static_cast<Guard*>(guard)->deadline ? 1 : 0;
  }
};

Database::Database(sqlite3* database) : database_(database), guard_(std::make_unique<Guard>()) {}

Database::~Database() {
  if (database_ != nullptr) sqlite3_close_v2(database_);
}

Database::Database(Database&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)), guard_(std::move(other.guard_)) {}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(database_, other.database_);
  std::swap(guard_, other.guard_);
  return *this;
}

Result<Database> Database::Open(const std::string& path, int flags, const char* vfs) {
  static const bool limited = [] {
    sqlite3_hard_heap_limit64(kHeapLimitBytes);
    return true;
  }();
  (void)limited;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle,
                                   flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, vfs);
  Database database(handle);
  if (code != SQLITE_OK) {
    Status error = ErrorOf(handle, code);
    return Status(error.code(),
                  handle == nullptr ? path + ": " + error.message() : std::string(error.message()));
  }
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyTimeoutMs);
  return database;
}

Result<Database> Database::Create(const std::string& path, const char* vfs) {
  TUTTI_ASSIGN_OR_RETURN(const std::string resolved, Resolve(path));
  const int file = open(resolved.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return IoError(path + ": can't be created: " + Reason(errno));
  close(file);
  return Open(resolved, SQLITE_OPEN_READWRITE, vfs);
}

Result<Database> Database::OpenTrusted(const std::string& path) {
  TUTTI_ASSIGN_OR_RETURN(const std::string resolved, Resolve(path));
  TUTTI_RETURN_IF_ERROR(CheckIsRegularFile(resolved));
  return Open(resolved, SQLITE_OPEN_READWRITE, nullptr);
}

Result<Database> Database::OpenMemory() {
  return Open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
}

Result<Database> Database::OpenHostile(const std::string& path, bool exclusive) {
  // Exclusive locking reads a log without the shared-memory file beside it; it needs the
  // right to write, but with the checkpoint switched off nothing is written.
  const int mode = exclusive ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  TUTTI_ASSIGN_OR_RETURN(Database database, Open(path, mode, nullptr));
  Harden(database.handle());
  if (exclusive) {
    Configure(database.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1);
    TUTTI_RETURN_IF_ERROR(database.Execute("PRAGMA locking_mode=EXCLUSIVE"));
  }
  TUTTI_RETURN_IF_ERROR(
      database.Execute("PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA query_only=ON"));
  database.RestrictToReading(/*allow_recursive=*/false);
  database.SetDeadline(kOpenBudget);
  return database;
}

Result<Database> Database::OpenReadOnly(const std::string& path, ReadOptions options) {
  TUTTI_ASSIGN_OR_RETURN(const std::string resolved, Resolve(path));
  TUTTI_RETURN_IF_ERROR(CheckIsRegularFile(resolved));
  TUTTI_RETURN_IF_ERROR(CheckLog(resolved));
  static constexpr const char* kReadSchema = "SELECT count(*) FROM sqlite_schema";
  TUTTI_ASSIGN_OR_RETURN(Database database, OpenHostile(resolved, /*exclusive=*/false));
  Status readable = database.QueryOne<int64_t>(kReadSchema).status();
  if (!readable.ok() && NeedsExclusive(resolved, database.handle())) {
    TUTTI_ASSIGN_OR_RETURN(database, OpenHostile(resolved, /*exclusive=*/true));
    readable = database.QueryOne<int64_t>(kReadSchema).status();
  }
  TUTTI_RETURN_IF_ERROR(readable);
  database.SetDeadline(std::chrono::milliseconds(-1));
  if (options.quick_check) {
    TUTTI_ASSIGN_OR_RETURN(const std::string verdict,
                           database.QueryOne<std::string>("PRAGMA quick_check(1)"));
    if (verdict != "ok") {
      return BadDataError(resolved + ": the database is damaged (" + verdict + ")");
    }
  }
  return database;
}

Status Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? OkStatus() : ErrorOf(database_, code);
}

Result<Statement> Database::Prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const char* tail = nullptr;
  const int code =
      sqlite3_prepare_v2(database_, sql.data(), static_cast<int>(sql.size()), &statement, &tail);
  if (code != SQLITE_OK) return ErrorOf(database_, code);
  Statement prepared(statement);
  if (statement == nullptr) return UsageError("no SQL statement given");
  const std::string_view rest = sql.substr(static_cast<size_t>(tail - sql.data()));
  sqlite3_stmt* second = nullptr;
  sqlite3_prepare_v2(database_, rest.data(), static_cast<int>(rest.size()), &second, nullptr);
  const bool more = second != nullptr || sqlite3_errcode(database_) != SQLITE_OK;
  sqlite3_finalize(second);
  if (more) return UsageError("more than one SQL statement given");
  return prepared;
}

void Database::RestrictToReading(bool allow_recursive) {
  static int recursion_allowed = 1;  // only its address says something
  sqlite3_set_authorizer(database_, AllowReading, allow_recursive ? &recursion_allowed : nullptr);
}

Status Database::AddView(const std::string& name, const std::string& select) {
  sqlite3_set_authorizer(database_, nullptr, nullptr);
  const Status made = Execute("PRAGMA query_only=OFF; CREATE TEMP VIEW IF NOT EXISTS \"" + name +
                              "\" AS " + select);
  const Status closed = Execute("PRAGMA query_only=ON");
  RestrictToReading(/*allow_recursive=*/false);
  return made.ok() ? closed : made;
}

void Database::LimitValues() { sqlite3_limit(database_, SQLITE_LIMIT_LENGTH, kLongestValueBytes); }

void Database::SetDeadline(std::chrono::milliseconds budget) {
  if (budget.count() < 0) {
    sqlite3_progress_handler(database_, 0, nullptr, nullptr);
    return;
  }
  guard_->deadline = Clock::now() + budget;
  sqlite3_progress_handler(database_, kInstructionsPerDeadlineCheck, Guard::IsOver, guard_.get());
}

std::string Database::path() const {
  const char* path = sqlite3_db_filename(database_, "main");
  return path == nullptr ? "" : path;
}

Result<Transaction> Transaction::Begin(Database& database) {
  TUTTI_RETURN_IF_ERROR(database.Execute("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Transaction::~Transaction() {
  // Nothing to report: after a failure SQLite may have rolled back already.
  if (database_ != nullptr) (void)database_->Execute("ROLLBACK");
}

Status Transaction::Commit() {
  TUTTI_RETURN_IF_ERROR(database_->Execute("COMMIT"));
  database_ = nullptr;
  return OkStatus();
}

}  // namespace tutti::schema
