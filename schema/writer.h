// Writes one rank's trace file: the raw tables of schema/raw.sql.
//
// Rows are appended as structs, kept in memory per table and committed together, at
// most 50,000 rows or 250 ms apart, so that a kill of this process loses no more than
// that; a killed writer's file opens, with every committed row in it.
//
// Full disk. Nothing that was committed is ever lost, and room to finish the file is
// reserved before each commit. Rows that could not be committed wait in memory and the
// commit is tried again; when too many wait, the newest are dropped and counted per
// table, and a row in trace_stat ('disk_full') says how many and from when to when. A
// ballast file beside the trace is deleted to make room for that row. Other failures of
// the system (input/output errors) are treated the same.
//
// Rows that the table refuses (a second row with one primary key, a CHECK) are left out
// and counted in trace_stat ('row_rejected'): they mean that the caller has a bug.
//
// Not thread-safe. Nobody else may write to the file.
#pragma once

#include <array>
#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/status.h"
#include "schema/meta_keys.h"
#include "schema/rows.h"
#include "schema/value.h"

namespace tutti::schema {

struct WriterOptions {
  int64_t commit_rows = 50'000;
  std::chrono::milliseconds commit_interval{250};
  int64_t commit_bytes = 8 << 20;    // of rows in memory, roughly as large on disk
  int64_t waiting_rows = 100'000;    // while commits fail; beyond it rows are dropped
  int64_t waiting_bytes = 64 << 20;  // the same
  int64_t ballast_bytes = 2 << 20;
  // For what can be made again: faster, but only a finished file is safe from a kill, a power cut
  // and a full disk.
  bool is_scratch = false;
  const char* vfs = nullptr;  // SQLite's file layer; tests inject faults with one
};

// When a row's event happened; empty where the row has no time.
struct RowTimes {
  std::optional<int64_t> begin_ns = {};
  std::optional<int64_t> end_ns = {};
};

// trace_stat rows that the writer itself adds have ids from here up; callers stay below.
inline constexpr int64_t kFirstWriterStatId = int64_t{1} << 40;

class TraceWriter {
 public:
  // Makes a new file (0600, kIo if there is one at `path`) with the empty raw tables.
  // While it is open there are `path`-wal, `path`-shm and `path`.ballast beside it.
  static Result<std::unique_ptr<TraceWriter>> Create(const std::string& path,
                                                     const WriterOptions& options = {});
  // Goes on with a file whose writer was destroyed without Finalize. Not for files from
  // elsewhere.
  static Result<std::unique_ptr<TraceWriter>> Reopen(const std::string& path,
                                                     const WriterOptions& options = {});
  // Without Finalize the file is left as a killed writer leaves it, less what waits.
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  // Adds a row, and commits if a commit is due. Not ok: the commit failed, and rows wait
  // or (see lost_rows()) were dropped; the writer can still be used.
  template <typename Row>
  Status Append(Row row);

  // Commits if rows have waited for the interval; for callers whose rows stop coming.
  Status MaybeCommit();
  // Commits what waits.
  Status Commit();

  // Commits, writes meta 'file.complete', turns the file into one without write-ahead
  // log, syncs it to disk and closes it; the caller renames it. If rows are lost for lack
  // of space that is ok: the file says so. Not ok: the file is not finished, but opens.
  // Nothing but lost_rows() may be called afterwards.
  Status Finalize();

  int64_t committed_rows() const;
  int64_t committed_events() const;  // rows of event_tables.h
  int64_t lost_rows() const;         // dropped for lack of space
  int64_t rejected_rows() const;     // refused by a constraint

 private:
  using Clock = std::chrono::steady_clock;
  template <typename... Rows>
  static std::tuple<std::vector<Rows>...> BuffersFor(std::tuple<Rows...>);
  using Buffers = decltype(BuffersFor(AllRawRows{}));
  static constexpr size_t kTableCount = std::tuple_size_v<AllRawRows>;
  using Counts = std::array<int64_t, kTableCount>;

  // Rows missing from one table, and the range of their times.
  struct Gap {
    int64_t lost = 0;
    int64_t rejected = 0;
    std::optional<int64_t> begin_ns = {};
    std::optional<int64_t> end_ns = {};
  };
  struct Store;

  TraceWriter(std::unique_ptr<Store> store, const WriterOptions& options);
  static Result<std::unique_ptr<TraceWriter>> Make(Store store, const WriterOptions& options);

  bool IsFull() const;
  bool MakeRoom();
  bool IsDue() const;
  Status CommitAll();
  Result<Counts> InsertBuffers();
  Status InsertGapRows(const Counts& newly_rejected);
  void CommitTablesThatFit();
  void CountLost(size_t table, int64_t rows, const RowTimes& times);
  void SaveGapRows();
  void ClearBuffers();
  Status FinishFile();
  template <typename Function>
  void ForEachBuffer(Function&& function);

  std::unique_ptr<Store> store_;
  WriterOptions options_;
  Buffers buffers_;
  std::array<Gap, kTableCount> gaps_{};
  bool gaps_changed_ = false;  // since they were last committed
  int64_t pending_rows_ = 0;
  int64_t pending_bytes_ = 0;
  Counts committed_{};
  Clock::time_point oldest_pending_ = {};
  Clock::time_point next_attempt_ = {};  // not before, after a failed commit
  Status last_failure_;
};

namespace internal {

template <typename Row, typename... Rows>
constexpr size_t IndexOf(const std::tuple<Rows...>*) {
  size_t index = 0;
  bool found = false;
  ((found = found || std::is_same_v<Row, Rows>, index += found ? 0 : 1), ...);
  return index;
}

// At most what the row takes in the file: a header byte and 9 bytes a value, and text.
template <typename Row>
int64_t BytesOf(const Row& row) {
  int64_t bytes = 0;
  const auto add = [&](const auto& field) {
    const auto& value = row.*field.member;
    using Field = std::remove_cvref_t<decltype(value)>;
    bytes += 10;
    if constexpr (std::is_same_v<Field, std::string>) {
      bytes += static_cast<int64_t>(value.size());
    } else if constexpr (std::is_same_v<Field, std::optional<std::string>>) {
      bytes += value ? static_cast<int64_t>(value->size()) : 0;
    } else if constexpr (std::is_same_v<Field, NullableValue>) {
      if (!value) return;
      if (const auto* text = std::get_if<std::string>(&*value)) {
        bytes += static_cast<int64_t>(text->size());
      }
    }
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, Row::Columns());
  return bytes;
}

template <typename Row>
concept HasInterval = requires(Row row) {
  row.end_ns = row.begin_ns;
};
template <typename Row>
concept HasTime = requires {
  &Row::time_ns;
};

template <typename Row>
RowTimes TimesOf(const Row&) {
  return {};
}
template <HasInterval Row>
RowTimes TimesOf(const Row& row) {
  return {row.begin_ns, row.end_ns};
}
template <HasTime Row>
RowTimes TimesOf(const Row& row) {
  return {row.time_ns, row.time_ns};
}

}  // namespace internal

template <typename Row>
Status TraceWriter::Append(Row row) {
  constexpr size_t kTable = internal::IndexOf<Row>(static_cast<AllRawRows*>(nullptr));
  static_assert(kTable < kTableCount, "not a row of a raw table");
  if constexpr (std::is_same_v<Row, MetaRow>) assert(IsMetaKey(row.key));  // meta_keys.h
  if (IsFull() && !MakeRoom()) {
    CountLost(kTable, 1, internal::TimesOf(row));
    return last_failure_;
  }
  pending_bytes_ += internal::BytesOf(row);
  std::get<kTable>(buffers_).push_back(std::move(row));
  if (++pending_rows_ == 1) oldest_pending_ = Clock::now();
  // The clock costs more than a row, so it is not read for each.
  const bool look = pending_rows_ % 256 == 0 || pending_rows_ >= options_.commit_rows ||
                    pending_bytes_ >= options_.commit_bytes;
  return look ? MaybeCommit() : OkStatus();
}

}  // namespace tutti::schema
