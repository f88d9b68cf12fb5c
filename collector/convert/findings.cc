#include "collector/convert/findings.h"

#include <algorithm>

#include "collector/trace_stat.h"

namespace tutti::collector::convert {
namespace {

void Widen(TimeRange& range, const TimeRange& more) {
  if (more.begin_ns) {
    range.begin_ns = std::min(range.begin_ns.value_or(*more.begin_ns), *more.begin_ns);
  }
  if (more.end_ns) range.end_ns = std::max(range.end_ns.value_or(*more.end_ns), *more.end_ns);
}

// An end that is not known may lie anywhere.
bool MayOverlap(const TimeRange& a, const TimeRange& b) {
  const bool a_is_before = a.end_ns && b.begin_ns && *a.end_ns < *b.begin_ns;
  const bool b_is_before = b.end_ns && a.begin_ns && *b.end_ns < *a.begin_ns;
  return !a_is_before && !b_is_before;
}

}  // namespace

void Findings::Add(const Finding& finding) {
  const auto [entry, is_new] =
      entries_.try_emplace({finding.name, finding.source + '\n' + finding.detail}, finding);
  if (!is_new) {
    entry->second.count = SaturatingSum(entry->second.count, finding.count);
    Widen(entry->second.range, finding.range);
  }
  if (finding.severity == wire::NoteSeverity::kDataLoss) {
    lost_ = SaturatingSum(lost_, finding.count);
  }
}

// Buffers that ran full while the disk was have not been too small.
void Findings::AdviseByCause() {
  for (const auto& [key, full] : entries_) {
    if (full.name != kSpoolFull) continue;
    for (auto& [other_key, dropped] : entries_) {
      if (dropped.name == kRingDropped && MayOverlap(dropped.range, full.range)) {
        dropped.advice = full.advice;
      }
    }
  }
}

void Findings::Write(RowOutput& rows) {
  AdviseByCause();
  for (auto& [key, finding] : entries_) {
    schema::TraceStatRow row;
    row.id = next_id_++;
    row.severity = SeverityName(finding.severity);
    row.name = std::move(finding.name);
    row.source = std::move(finding.source);
    row.count = finding.count;
    row.begin_ns = finding.range.begin_ns;
    row.end_ns = finding.range.end_ns;
    row.detail = std::move(finding.detail);
    row.advice = std::move(finding.advice);
    rows.Append(std::move(row));
  }
  entries_.clear();
}

}  // namespace tutti::collector::convert
