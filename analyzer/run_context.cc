#include "analyzer/run_context.h"

#include <algorithm>
#include <thread>

namespace tutti::analyzer {

RunContext::RunContext(schema::Database& derived, RunFiles files, PassOptions options)
    : derived_(derived), files_(std::move(files)), options_(std::move(options)) {}

Status RunContext::RefusedRows(std::string_view table, int64_t refused) const {
  return BadDataError("table " + std::string(table) + " refused " + std::to_string(refused) +
                      " rows of its own pass; please report this with the trace");
}

Status RunContext::AddIssue(schema::DataIssueRow issue) {
  issue.id = next_issue_++;
  return Write(std::span<const schema::DataIssueRow>(&issue, 1));
}

Result<std::vector<schema::RankRow>> RunContext::Ranks() {
  return Read<schema::RankRow>("ORDER BY rank");
}

void RunContext::RestrictTo(std::optional<int64_t> rank, schema::Packer* capture) {
  only_rank_ = rank;
  capture_ = capture;
}

void RunContext::Capture(const schema::RowLayout& layout, const void* rows, size_t count) {
  if (capture_ == nullptr) return;
  schema::RowLayout captured = layout;
  // An issue gets its id where all ranks' come together.
  if (layout.table == schema::DataIssueRow::kTable) captured.columns = layout.columns.subspan(1);
  capture_->AddRows(captured, rows, count);
}

Status RunContext::WritePacked(std::string_view rows) {
  TUTTI_ASSIGN_OR_RETURN(const int64_t count, schema::InsertPacked(derived_, rows));
  rows_written_ += count;
  return ContinueIssues();
}

Status RunContext::ContinueIssues() {
  TUTTI_ASSIGN_OR_RETURN(
      next_issue_, derived_.QueryOne<int64_t>("SELECT coalesce(max(id), 0) + 1 FROM data_issue"));
  return OkStatus();
}

Status RunContext::SetClock(const schema::RankRow& rank, int64_t domain, int64_t offset_ns,
                            std::optional<int64_t> error_ns) {
  const int64_t moved_ns = offset_ns - rank.clock_offset_ns;
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement clock,
      derived_.Prepare("UPDATE rank SET clock_domain = ?2, clock_offset_ns = ?3, clock_error_ns ="
                       " ?4, begin_ns = begin_ns + ?5, end_ns = end_ns + ?5 WHERE rank = ?1"));
  TUTTI_RETURN_IF_ERROR(clock.BindAll(rank.rank, domain, offset_ns, error_ns, moved_ns));
  TUTTI_RETURN_IF_ERROR(clock.Step().status());
  TUTTI_ASSIGN_OR_RETURN(schema::Statement issues,
                         derived_.Prepare("UPDATE data_issue SET begin_ns = begin_ns + ?2, end_ns ="
                                          " end_ns + ?2 WHERE rank = ?1"));
  TUTTI_RETURN_IF_ERROR(issues.BindAll(rank.rank, moved_ns));
  TUTTI_RETURN_IF_ERROR(issues.Step().status());
  traces_.remove_if([&](const OpenTrace& open) {
    if (open.rank != rank.rank || moved_ns == 0) return false;
    CountBad(open.rank, open.trace->bad());
    return true;
  });
  pending_.remove_if([&](const PendingTrace& pending) { return pending.rank == rank.rank; });
  return OkStatus();
}

std::function<Result<std::unique_ptr<RankTrace>>()> RunContext::Opening(
    const schema::RankRow& rank) const {
  return [path = files_.traces[static_cast<size_t>(rank.input_file_id)].path,
          options = RankTrace::Options{.clock_offset_ns = rank.clock_offset_ns,
                                       .begin_ns = rank.begin_ns,
                                       .end_ns = rank.end_ns,
                                       .kernel_rules = options_.kernel_rules}] {
    return RankTrace::Open(path, options);
  };
}

void RunContext::ReadAhead(std::span<const schema::RankRow> ranks) {
  const size_t processors = std::thread::hardware_concurrency();
  if (is_short_of_memory_ || processors < 2) return;
  const auto is_of = [](int64_t rank) {
    return [rank](const auto& trace) { return trace.rank == rank; };
  };
  for (const schema::RankRow& rank : ranks.first(std::min(processors, ranks.size()))) {
    if (std::ranges::any_of(traces_, is_of(rank.rank)) ||
        std::ranges::any_of(pending_, is_of(rank.rank))) {
      continue;
    }
    pending_.push_back({rank.rank, std::async(std::launch::async, [open = Opening(rank)] {
                          Result<std::unique_ptr<RankTrace>> trace = open();
                          // What fails here fails again for the pass that asks for it.
                          if (trace.ok()) (void)(*trace)->ReadEvents();
                          return trace;
                        })});
  }
}

Result<std::unique_ptr<RankTrace>> RunContext::Take(const schema::RankRow& rank) {
  const auto found = std::ranges::find_if(
      pending_, [&](const PendingTrace& pending) { return pending.rank == rank.rank; });
  if (found == pending_.end()) return Opening(rank)();
  Result<std::unique_ptr<RankTrace>> trace = found->trace.get();
  pending_.erase(found);
  return trace;
}

Result<RankTrace*> RunContext::Trace(const schema::RankRow& rank) {
  const auto found = std::find_if(traces_.begin(), traces_.end(),
                                  [&](const OpenTrace& open) { return open.rank == rank.rank; });
  if (found != traces_.end()) {
    traces_.splice(traces_.begin(), traces_, found);
    return traces_.front().trace.get();
  }
  DropUnusedTraces();
  Result<std::unique_ptr<RankTrace>> trace = Take(rank);
  if (!trace.ok()) {
    failed_file_ = static_cast<size_t>(rank.input_file_id);
    return trace.status();
  }
  traces_.push_front({rank.rank, std::move(trace).value()});
  return traces_.front().trace.get();
}

void RunContext::DropUnusedTraces() {
  size_t bytes = 0;
  for (const OpenTrace& open : traces_) bytes += open.trace->resident_bytes();
  while (!traces_.empty() && bytes > options_.trace_bytes) {
    bytes -= traces_.back().trace->resident_bytes();
    CountBad(traces_.back().rank, traces_.back().trace->bad());
    traces_.pop_back();
    is_short_of_memory_ = true;
  }
}

// A trace that was dropped is read again from its start: the larger count is of more of it.
void RunContext::CountBad(int64_t rank, const std::map<std::string, BadCounts>& counts) {
  for (const auto& [table, count] : counts) {
    BadCounts& known = bad_[rank][table];
    known.rows = std::max(known.rows, count.rows);
    known.values = std::max(known.values, count.values);
  }
}

const RunContext::BadTables& RunContext::Bad() {
  for (const OpenTrace& open : traces_) CountBad(open.rank, open.trace->bad());
  return bad_;
}

void RunContext::MergeBad(const BadTables& bad) {
  for (const auto& [rank, counts] : bad) CountBad(rank, counts);
}

std::map<int64_t, int64_t> RunContext::BadRows() {
  std::map<int64_t, int64_t> all;
  for (const auto& [rank, counts] : Bad()) {
    for (const auto& [table, count] : counts) all[rank] += count.rows;
  }
  return all;
}

std::map<int64_t, int64_t> RunContext::BadValues() {
  std::map<int64_t, int64_t> all = bad_values_of_passes_;
  for (const auto& [rank, counts] : Bad()) {
    for (const auto& [table, count] : counts) all[rank] += count.values;
  }
  return all;
}

}  // namespace tutti::analyzer
