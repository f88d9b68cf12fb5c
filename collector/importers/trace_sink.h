// One rank's trace while files are imported into it: rows, their ids, strings, threads,
// who the rank is, and what was odd. Writes with the same writer as a recording.
// Not thread-safe.
//
// A failure to write (full disk) is remembered and ends the import: status().
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "collector/importers/oddity.h"
#include "collector/importers/text_ids.h"
#include "common/status.h"
#include "schema/background_writer.h"
#include "schema/database.h"
#include "schema/rows.h"
#include "schema/writer.h"

namespace tutti::collector::importers {

// Who a trace is of, as far as its file tells. What is unknown stays empty.
struct TraceIdentity {
  std::optional<int64_t> rank;
  std::string rank_source;  // where the rank is known from: 'distributedInfo', 'file name', …
  std::optional<int64_t> world_size;
  std::optional<int64_t> local_rank;
  std::optional<int64_t> device;  // the GPU it used, a hint where no rank is known
  std::optional<int64_t> pid;
  std::string host;
  std::string boot_id;
  std::string run_id;
  std::string executable;
  std::string torch_version;
  std::optional<int64_t> begin_ns;  // of the capture
  std::optional<int64_t> end_ns;
};

class TraceSink {
 public:
  // A new trace in the file `path`, which must not exist yet.
  static Result<std::unique_ptr<TraceSink>> Create(const std::string& path);
  TraceSink(const TraceSink&) = delete;
  TraceSink& operator=(const TraceSink&) = delete;

  TraceIdentity identity;
  // What to import_source it adds: a row per file, kept up to date by its importer.
  std::vector<schema::ImportSourceRow> sources;

  // Next id of a table, from 0.
  template <typename Row>
  int64_t NextId() {
    return next_ids_[TableOf<Row>()]++;
  }
  // Appends a row as it is.
  template <typename Row>
  void Append(Row row) {
    Note(writer_->Append(std::move(row)));
  }
  // Appends a row under the next id of its table; the id.
  template <typename Row>
  int64_t Add(Row row) {
    const int64_t id = row.id = NextId<Row>();
    Append(std::move(row));
    return id;
  }

  // Id of a text, 0 for the empty one. Invalid UTF-8 is replaced; texts beyond 1 MiB are
  // cut and counted.
  int64_t Intern(std::string_view text);

  // The value for tid columns of a thread of process `pid`: `kernel_tid`, unless another
  // process's thread has that. Widens the thread's time by the event's.
  int64_t Thread(int64_t pid, int64_t kernel_tid, std::optional<int64_t> begin_ns = {},
                 std::optional<int64_t> end_ns = {});
  void SetThreadName(int64_t pid, int64_t kernel_tid, std::string_view name);
  void SetThreadRole(int64_t tid, std::string_view role);  // by the value for tid columns

  // Something odd; see oddity.h. `where` is a place in the file of `sources.back()`.
  void Count(const Oddity& oddity, std::string_view where, std::optional<int64_t> time_ns = {},
             int64_t count = 1, std::string_view about = {});
  const OddityLedger& oddities() const { return oddities_; }

  // Commits what was appended and lets `change` work on the file's tables: for what is
  // known only when all rows are there.
  Status Update(const std::function<Status(schema::Database&)>& change);

  // Puts the rows of `later`, a trace of the same process at a later time, behind the own, and
  // notes that nothing is known of the time between. `later` is of no use afterwards.
  Status Absorb(TraceSink& later);

  // The first failure to write.
  const Status& status() const { return status_; }
  const std::string& path() const { return path_; }

  // Writes threads, oddities, sources, identity and meta, and completes the file.
  Status Finish(int64_t attempt);
  // Frees what costs memory until the trace is used again; cheap to call twice.
  Status Suspend();
  Status Resume();

 private:
  struct ThreadEntry {
    schema::ThreadRow row;
    int64_t pid;
  };
  static constexpr size_t kTableCount = std::tuple_size_v<schema::AllRawRows>;
  template <typename Row>
  static constexpr size_t TableOf() {
    return schema::internal::IndexOf<Row>(static_cast<schema::AllRawRows*>(nullptr));
  }

  explicit TraceSink(std::string path) : path_(std::move(path)) {}
  void Note(Status status) {
    if (!status.ok() && status_.ok()) status_ = std::move(status);
  }
  ThreadEntry& FindThread(int64_t pid, int64_t kernel_tid);
  Status ReadStrings();
  std::vector<std::pair<int64_t, int64_t>> TakeThreads(const TraceSink& later);
  Status SkipTakenIds();
  void AppendProcess(int64_t attempt);
  void AppendMeta();

  std::string path_;
  std::unique_ptr<schema::BackgroundWriter> writer_;  // null while suspended
  Status status_;
  std::array<int64_t, kTableCount> next_ids_{};
  TextIds strings_;
  std::map<std::pair<int64_t, int64_t>, size_t> thread_index_;  // by pid, kernel tid
  std::vector<ThreadEntry> threads_;
  std::unordered_map<int64_t, size_t> thread_of_tid_;
  size_t last_thread_ = SIZE_MAX;
  int64_t next_negative_tid_ = -1;
  OddityLedger oddities_;
};

}  // namespace tutti::collector::importers
