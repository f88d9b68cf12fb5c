// What a pass works on: the raw rows of every rank (read-only) and the derived tables
// (what earlier passes wrote, and its own).
// While a pass works on one rank, the files of the next ones are read by other threads.
// Not thread-safe; spans and pointers live until the next call of Trace().
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/input/rank_trace.h"
#include "analyzer/run_files.h"
#include "common/status.h"
#include "schema/batch.h"
#include "schema/database.h"
#include "schema/derived_rows.h"
#include "schema/reader.h"
#include "schema/row_pack.h"

namespace tutti::analyzer {

// What a user decides about an analysis.
struct PassOptions {
  size_t trace_bytes = size_t{1} << 30;  // traces stay in memory up to this, roughly
  KernelRules kernel_rules;              // what kernels do, before what their names say
  std::string step_range;                // name of the range that is a step, "" none
};

class RunContext {
 public:
  // `derived` holds the empty derived tables and outlives the context. Of traces beyond
  // `trace_bytes` the one unused for longest is dropped.
  RunContext(schema::Database& derived, RunFiles files, PassOptions options);

  const RunFiles& files() const { return files_; }
  const PassOptions& options() const { return options_; }
  schema::Database& derived() { return derived_; }

  // Rows of a derived table. Every one must be accepted: a refused row is a bug of the
  // pass, named in the error.
  template <typename Row>
  Status Write(std::span<const Row> rows);
  template <typename Row>
  Status Write(const std::vector<Row>& rows) {
    return Write(std::span<const Row>(rows));
  }
  template <typename Row, typename... Values>
  Result<std::vector<Row>> Read(std::string_view suffix, const Values&... parameters) {
    return schema::ReadAll<Row>(derived_, suffix, parameters...);
  }

  // Adds a row to data_issue; its id is chosen here.
  Status AddIssue(schema::DataIssueRow issue);

  // The ranks in use, in order. Empty before run_index ran.
  Result<std::vector<schema::RankRow>> Ranks();
  // Changes a rank's clock: its rows are read again on the new time, and what was written of
  // it in aligned time is moved.
  Status SetClock(const schema::RankRow& rank, int64_t domain, int64_t offset_ns,
                  std::optional<int64_t> error_ns);
  // The trace of a rank in use. On failure failed_file() tells whose it was.
  Result<RankTrace*> Trace(const schema::RankRow& rank);
  // Calls function(rank, trace) -> Status for every rank in use.
  template <typename Function>
  Status ForEachRank(Function function);

  // Index into files().traces of the file that could not be read.
  std::optional<size_t> failed_file() const { return failed_file_; }
  void SetFailedFile(size_t file) { failed_file_ = file; }
  int64_t rows_written() const { return rows_written_; }
  // Only this rank is in use, for ForEachRank, until called with nothing; what is written goes
  // to `capture` as well.
  void RestrictTo(std::optional<int64_t> rank, schema::Packer* capture);
  // Rows that another context captured. Returns how many there were.
  Status WritePacked(std::string_view rows);
  // The next issue's id follows those in the table.
  Status ContinueIssues();

  // What could not be used, by rank and table, among the rows read so far.
  using BadTables = std::map<int64_t, std::map<std::string, BadCounts>>;
  const BadTables& Bad();
  // Adds what another context counted of the same traces.
  void MergeBad(const BadTables& bad);
  // Rows of each rank's trace that contradict themselves, among those read so far.
  std::map<int64_t, int64_t> BadRows();
  // The same of single values that can't be, and of those that a pass saw itself.
  std::map<int64_t, int64_t> BadValues();
  void AddBadValues(int64_t rank, int64_t count) { bad_values_of_passes_[rank] += count; }

 private:
  struct OpenTrace {
    int64_t rank;
    std::unique_ptr<RankTrace> trace;
  };
  // A trace that a thread reads for later.
  struct PendingTrace {
    int64_t rank;
    std::future<Result<std::unique_ptr<RankTrace>>> trace;
  };
  std::function<Result<std::unique_ptr<RankTrace>>()> Opening(const schema::RankRow& rank) const;
  Result<std::unique_ptr<RankTrace>> Take(const schema::RankRow& rank);
  // Begins to read the first of `ranks`, as many as there are processors. Not where memory is
  // short: what is read early would be dropped before it is used.
  void ReadAhead(std::span<const schema::RankRow> ranks);
  void DropUnusedTraces();
  void CountBad(int64_t rank, const std::map<std::string, BadCounts>& counts);
  void Capture(const schema::RowLayout& layout, const void* rows, size_t count);
  Status RefusedRows(std::string_view table, int64_t refused) const;

  schema::Database& derived_;
  RunFiles files_;
  PassOptions options_;
  std::list<OpenTrace> traces_;  // last used first
  std::list<PendingTrace> pending_;
  bool is_short_of_memory_ = false;  // a trace was dropped
  int64_t next_issue_ = 1;
  int64_t rows_written_ = 0;
  std::optional<size_t> failed_file_;
  std::optional<int64_t> only_rank_;
  schema::Packer* capture_ = nullptr;
  BadTables bad_;
  std::map<int64_t, int64_t> bad_values_of_passes_;
};

template <typename Row>
Status RunContext::Write(std::span<const Row> rows) {
  if (rows.empty()) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(schema::BatchInserter<Row> inserter,
                         schema::BatchInserter<Row>::Make(derived_));
  TUTTI_ASSIGN_OR_RETURN(const int64_t refused, inserter.Insert(rows));
  if (refused > 0) return RefusedRows(Row::kTable, refused);
  rows_written_ += static_cast<int64_t>(rows.size());
  Capture(schema::LayoutOf<Row>(), rows.data(), rows.size());
  return OkStatus();
}

template <typename Function>
Status RunContext::ForEachRank(Function function) {
  TUTTI_ASSIGN_OR_RETURN(std::vector<schema::RankRow> ranks, Ranks());
  if (only_rank_) {
    std::erase_if(ranks, [&](const schema::RankRow& rank) { return rank.rank != *only_rank_; });
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    const schema::RankRow& rank = ranks[i];
    ReadAhead(std::span(ranks).subspan(i));
    TUTTI_ASSIGN_OR_RETURN(RankTrace* const trace, Trace(rank));
    const Status status = function(rank, *trace);
    if (!status.ok() && trace->failed()) {
      failed_file_ = static_cast<size_t>(rank.input_file_id);
    }
    if (!status.ok()) return status;
  }
  return OkStatus();
}

}  // namespace tutti::analyzer
