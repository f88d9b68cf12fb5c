// Where converted rows go: a TraceWriter that remembers its last failure, so that the
// many places that make rows need not each handle a full disk. (The writer keeps rows
// that it could not commit and says in the file what it had to drop.) One thread.
#pragma once

#include <cstdint>
#include <utility>

#include "common/status.h"
#include "schema/writer.h"

namespace tutti::collector::convert {

class RowOutput {
 public:
  // |writer| must outlive this.
  explicit RowOutput(schema::TraceWriter& writer) : writer_(writer) {}

  template <typename Row>
  void Append(Row row) {
    Note(writer_.Append(std::move(row)));
    ++rows_;
  }
  // Commits if enough rows or time have passed since the last commit.
  void MaybeCommit() { Note(writer_.MaybeCommit()); }
  void Commit() { Note(writer_.Commit()); }

  // The last failure, ok if there was none.
  const Status& last_failure() const { return last_failure_; }
  int64_t rows() const { return rows_; }

 private:
  void Note(Status status) {
    if (!status.ok()) last_failure_ = std::move(status);
  }

  schema::TraceWriter& writer_;
  Status last_failure_;
  int64_t rows_ = 0;
};

}  // namespace tutti::collector::convert
