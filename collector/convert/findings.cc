#include "collector/convert/findings.h"

#include <algorithm>
#include <limits>

namespace tutti::collector::convert {
namespace {

const char* SeverityName(wire::NoteSeverity severity) {
  switch (severity) {
    case wire::NoteSeverity::kInfo:
      return "info";
    case wire::NoteSeverity::kNotice:
      return "notice";
    case wire::NoteSeverity::kDataLoss:
      return "data_loss";
    case wire::NoteSeverity::kError:
      return "error";
  }
  return "error";  // a value that no tracer writes
}

// Counts come from the traced process, which may have written anything.
int64_t SaturatingSum(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

void Widen(TimeRange& range, const TimeRange& more) {
  if (more.begin_ns) {
    range.begin_ns = std::min(range.begin_ns.value_or(*more.begin_ns), *more.begin_ns);
  }
  if (more.end_ns) range.end_ns = std::max(range.end_ns.value_or(*more.end_ns), *more.end_ns);
}

}  // namespace

void Findings::Add(const Finding& finding, TimeRange range) {
  const auto [entry, is_new] = entries_.try_emplace(
      {finding.name, finding.source + '\n' + finding.detail}, Entry{finding, range});
  if (!is_new) {
    entry->second.finding.count = SaturatingSum(entry->second.finding.count, finding.count);
    Widen(entry->second.range, range);
  }
  if (finding.severity == wire::NoteSeverity::kDataLoss) {
    lost_ = SaturatingSum(lost_, finding.count);
  }
}

void Findings::Write(RowOutput& rows) {
  for (auto& [key, entry] : entries_) {
    schema::TraceStatRow row;
    row.id = next_id_++;
    row.severity = SeverityName(entry.finding.severity);
    row.name = std::move(entry.finding.name);
    row.source = std::move(entry.finding.source);
    row.count = entry.finding.count;
    row.begin_ns = entry.range.begin_ns;
    row.end_ns = entry.range.end_ns;
    row.detail = std::move(entry.finding.detail);
    row.advice = std::move(entry.finding.advice);
    rows.Append(std::move(row));
  }
  entries_.clear();
}

}  // namespace tutti::collector::convert
