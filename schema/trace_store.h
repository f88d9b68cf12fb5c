// The file under a TraceWriter: made with the raw tables, kept finishable on a full
// disk, turned into one plain file at the end. For the schema folder only.
//
// A file can be finished only if what is in its write-ahead log fits into the database
// proper, so Reserve() grows the database before a commit is tried; and the last rows
// need a few pages more, for which a ballast file is kept and then deleted.
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/status.h"
#include "schema/database.h"

namespace tutti::schema {

class TraceStore {
 public:
  // How much is done for an unfinished file. kScratch: until Finish a kill may damage it, and room
  // is not reserved; a commit writes each page once.
  enum class Safety { kDurable, kScratch };
  static Result<TraceStore> Create(const std::string& path, int64_t ballast_bytes, Safety safety,
                                   const char* vfs);
  // Goes on with a file that was left unfinished.
  static Result<TraceStore> Open(const std::string& path, int64_t ballast_bytes, Safety safety);
  ~TraceStore();
  TraceStore(TraceStore&& other) noexcept;
  TraceStore& operator=(TraceStore&&) = delete;

  // Makes sure that the database can grow by `bytes`. kIo where the disk is full.
  Status Reserve(int64_t bytes);
  // Deletes the ballast; the disk has that much more room.
  void ReleaseBallast();
  // From now on the file is not kept larger than its content.
  void StopReserving();
  // Moves the log into the database; kIo if that can't be done now, then the call may be
  // repeated.
  Status EmptyLog();
  // Requires an empty log. Closes the database, makes it one without a log, syncs it and
  // deletes log and ballast. Only the destructor may be called afterwards.
  Status Finish();

  Database& database() { return *database_; }

 private:
  TraceStore(Database database, std::string ballast_path, Safety safety);
  Status Configure();
  Status MakeTables();
  Status MakeBallast(int64_t bytes);

  std::optional<Database> database_;  // empty once finished
  std::string path_;
  std::string ballast_path_;  // empty once released
  Safety safety_;
};

}  // namespace tutti::schema
