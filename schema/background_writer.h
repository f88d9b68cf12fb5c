// A TraceWriter on a thread of its own, for a caller that makes rows faster than SQLite takes
// them: while one batch of rows is inserted, the next is made. What the file holds in the end is
// what a TraceWriter that got the same rows had written.
//
// At most kMostWaiting batches wait, so memory stays bounded: Append then waits for the writer.
// A failure to write is returned by a later call. One thread calls; the other is inside, and only
// begins when there are rows enough: a writer of few rows has none.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/status.h"
#include "schema/rows.h"
#include "schema/writer.h"

namespace tutti::schema {

class BackgroundWriter {
 public:
  explicit BackgroundWriter(std::unique_ptr<TraceWriter> writer) : writer_(std::move(writer)) {}
  // Without Finalize the file is left as a killed writer leaves it; what waits is dropped.
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  // As of TraceWriter. Not ok: an earlier row could not be written.
  template <typename Row>
  Status Append(Row row) {
    std::get<std::vector<Row>>(batch_).push_back(std::move(row));
    return ++batch_rows_ < kBatchRows ? OkStatus() : HandOver();
  }
  // Waits until all rows are committed.
  Status Commit();
  // As of TraceWriter; nothing but lost_rows() may be called afterwards.
  Status Finalize();
  int64_t lost_rows() const { return writer_->lost_rows(); }  // after Finalize

 private:
  static constexpr int64_t kBatchRows = 2'048;
  static constexpr size_t kMostWaiting = 2;
  template <typename... Rows>
  static std::tuple<std::vector<Rows>...> BatchOf(std::tuple<Rows...>);
  using Batch = decltype(BatchOf(AllRawRows{}));

  Status HandOver();
  Status WriteAll();
  void Work();
  Status Write(Batch& batch);

  std::unique_ptr<TraceWriter> writer_;  // the thread's while it works on a batch
  Batch batch_;                          // being filled by the caller
  int64_t batch_rows_ = 0;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Batch> waiting_;
  std::vector<Batch> empty_;  // to be filled again: their memory is reused
  bool is_working_ = false;
  bool is_ending_ = false;
  Status failure_;      // the first
  std::thread thread_;  // begins with the first batch
};

}  // namespace tutti::schema
