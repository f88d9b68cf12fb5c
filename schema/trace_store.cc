#include "schema/trace_store.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "schema/sql.h"
#include "schema/sqlite_error.h"

namespace tutti::schema {
namespace {

constexpr int64_t kPageBytes = 16'384;
constexpr int kChunkBytes = 1 << 20;  // the file grows by whole chunks while it is written
// Interior pages, and pages begun in each table, that a commit adds to its rows.
constexpr int64_t kSpareBytes = 64 * kPageBytes;
constexpr int kFinishTimeoutMs = 10'000;  // somebody may be reading the file just then

Status SystemError(const std::string& path, int error) {
  return IoError(path + ": " + std::strerror(error));  // NOLINT(concurrency-mt-unsafe)
}

// Bytes 18 and 19 of the header: 1 rollback journal, 2 write-ahead log
// (https://sqlite.org/fileformat2.html, "File format version numbers").
// What was reserved beyond `bytes` is given back.
Status MarkAsWithoutLog(const std::string& path, int64_t bytes) {
  constexpr off_t kOffset = 18;
  constexpr char kRollbackJournal[2] = {1, 1};
  const int file = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return SystemError(path, errno);
  const bool written = pwrite(file, kRollbackJournal, 2, kOffset) == 2 &&
                       ftruncate(file, bytes) == 0 && fsync(file) == 0;
  const int error = errno;
  close(file);
  return written ? OkStatus() : SystemError(path, error);
}

Status SyncFolder(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return SystemError(path, errno);
  const bool synced = fsync(folder) == 0;
  const int error = errno;
  close(folder);
  // Some file systems can't sync a folder and say so; their files are safe without it.
  return synced || error == EINVAL ? OkStatus() : SystemError(path, error);
}

}  // namespace

TraceStore::TraceStore(Database database, std::string ballast_path, Safety safety)
    : database_(std::move(database)),
      path_(database_->path()),
      ballast_path_(std::move(ballast_path)),
      safety_(safety) {}

TraceStore::TraceStore(TraceStore&& other) noexcept
    : database_(std::exchange(other.database_, std::nullopt)),
      path_(std::move(other.path_)),
      ballast_path_(std::exchange(other.ballast_path_, {})),
      safety_(other.safety_) {}

TraceStore::~TraceStore() { ReleaseBallast(); }

Result<TraceStore> TraceStore::Create(const std::string& path, int64_t ballast_bytes, Safety safety,
                                      const char* vfs) {
  TUTTI_ASSIGN_OR_RETURN(Database database, Database::Create(path, vfs));
  std::string ballast_path = database.path() + ".ballast";
  TraceStore store(std::move(database), std::move(ballast_path), safety);
  TUTTI_RETURN_IF_ERROR(store.MakeTables());
  TUTTI_RETURN_IF_ERROR(store.MakeBallast(ballast_bytes));
  return store;
}

Result<TraceStore> TraceStore::Open(const std::string& path, int64_t ballast_bytes, Safety safety) {
  TUTTI_ASSIGN_OR_RETURN(Database database, Database::OpenTrusted(path));
  std::string ballast_path = database.path() + ".ballast";
  TraceStore store(std::move(database), std::move(ballast_path), safety);
  TUTTI_RETURN_IF_ERROR(store.Configure());
  TUTTI_RETURN_IF_ERROR(store.MakeBallast(ballast_bytes));
  return store;
}

Status TraceStore::Configure() {
  // The page size must come before anything is written.
  const std::string settings = "PRAGMA page_size=" + std::to_string(kPageBytes) +
                               "; PRAGMA cache_size=-4096; PRAGMA temp_store=MEMORY;"
                               "PRAGMA trusted_schema=OFF;";
  TUTTI_RETURN_IF_ERROR(database_->Execute(settings));
  if (safety_ == Safety::kScratch) {
    return database_->Execute("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF");
  }
  // Sync NORMAL: a killed process loses nothing, a power cut at most the latest commits, and
  // neither damages the file.
  TUTTI_RETURN_IF_ERROR(database_->Execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL"));
  int chunk_bytes = kChunkBytes;
  sqlite3_file_control(database_->handle(), "main", SQLITE_FCNTL_CHUNK_SIZE, &chunk_bytes);
  return OkStatus();
}

Status TraceStore::MakeTables() {
  TUTTI_RETURN_IF_ERROR(Configure());
  TUTTI_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*database_));
  TUTTI_RETURN_IF_ERROR(
      database_->Execute("PRAGMA application_id=" + std::to_string(kApplicationId) +
                         "; PRAGMA user_version=" + std::to_string(kSchemaVersion)));
  TUTTI_RETURN_IF_ERROR(database_->Execute(std::string(RawSql())));
  TUTTI_RETURN_IF_ERROR(
      database_->Execute("INSERT INTO meta VALUES ('file.kind', 'rank'), ('schema.version', '" +
                         std::to_string(kSchemaVersion) + "')"));
  return transaction.Commit();
}

Status TraceStore::MakeBallast(int64_t bytes) {
  const int file =
      open(ballast_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  const int error = file < 0 ? errno : posix_fallocate(file, 0, bytes);
  if (file >= 0) close(file);
  return error == 0 ? OkStatus() : SystemError(ballast_path_, error);
}

Status TraceStore::Reserve(int64_t bytes) {
  if (safety_ == Safety::kScratch) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(const int64_t pages, database_->QueryOne<int64_t>("PRAGMA page_count"));
  sqlite3_int64 wanted_bytes = pages * kPageBytes + bytes + kSpareBytes;
  const int code =
      sqlite3_file_control(database_->handle(), "main", SQLITE_FCNTL_SIZE_HINT, &wanted_bytes);
  if (code == SQLITE_OK || code == SQLITE_NOTFOUND) return OkStatus();
  return IoError(path_ + ": the disk is full (no room for " + std::to_string(bytes) + " bytes)");
}

void TraceStore::ReleaseBallast() {
  if (!ballast_path_.empty()) unlink(ballast_path_.c_str());
  ballast_path_.clear();
}

void TraceStore::StopReserving() {
  int chunk_bytes = 0;
  sqlite3_file_control(database_->handle(), "main", SQLITE_FCNTL_CHUNK_SIZE, &chunk_bytes);
}

Status TraceStore::EmptyLog() {
  sqlite3_busy_timeout(database_->handle(), kFinishTimeoutMs);
  TUTTI_ASSIGN_OR_RETURN(const int64_t busy,
                         database_->QueryOne<int64_t>("PRAGMA wal_checkpoint(TRUNCATE)"));
  return busy == 0 ? OkStatus() : IoError(path_ + ": in use by another process");
}

Status TraceStore::Finish() {
  // PRAGMA journal_mode would need room for a rollback journal, and a kill just then would
  // leave one that read-only connections can't play back. With the log empty, all that it
  // changes are the two bytes.
  TUTTI_ASSIGN_OR_RETURN(const int64_t pages, database_->QueryOne<int64_t>("PRAGMA page_count"));
  sqlite3_db_config(database_->handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  database_.reset();
  TUTTI_RETURN_IF_ERROR(MarkAsWithoutLog(path_, pages * kPageBytes));
  unlink((path_ + "-wal").c_str());
  unlink((path_ + "-shm").c_str());
  ReleaseBallast();
  return SyncFolder(path_.substr(0, path_.rfind('/') + 1));
}

}  // namespace tutti::schema
