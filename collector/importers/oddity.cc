#include "collector/importers/oddity.h"

#include <algorithm>

#include "collector/trace_stat.h"
#include "common/text.h"

namespace tutti::collector::importers {

void OddityLedger::Count(const Oddity& oddity, std::string_view source, std::string_view where,
                         std::optional<int64_t> time_ns, int64_t count, std::string_view about) {
  std::pair<std::string, std::string> key(oddity.name, about);
  auto found = rows_.find(key);
  if (found == rows_.end()) {
    if (rows_.size() >= kMostKinds) key.second = "others";
    schema::TraceStatRow row;
    row.severity = SeverityName(oddity.severity);
    row.name = oddity.name;
    row.source = source;
    row.detail =
        ToPrintableText(std::string(oddity.detail) + (key.second.empty() ? "" : ": " + key.second) +
                        (where.empty() ? "" : " (first: " + std::string(where) + ")"));
    row.advice = oddity.advice;
    found = rows_.try_emplace(std::move(key), std::move(row)).first;
  }
  schema::TraceStatRow& row = found->second;
  row.count = SaturatingSum(row.count, count);
  if (!time_ns) return;
  row.begin_ns = std::min(row.begin_ns.value_or(*time_ns), *time_ns);
  row.end_ns = std::max(row.end_ns.value_or(*time_ns), *time_ns);
}

void OddityLedger::Absorb(OddityLedger other) {
  for (auto& [key, row] : other.rows_) {
    const auto [own, is_new] = rows_.try_emplace(key, row);
    if (is_new) continue;
    schema::TraceStatRow& known = own->second;
    known.count = SaturatingSum(known.count, row.count);
    if (!row.begin_ns) continue;
    known.begin_ns = std::min(known.begin_ns.value_or(*row.begin_ns), *row.begin_ns);
    known.end_ns = std::max(known.end_ns.value_or(*row.end_ns), *row.end_ns);
  }
}

int64_t OddityLedger::CountOf(std::string_view name) const {
  int64_t count = 0;
  for (const auto& [key, row] : rows_) {
    if (key.first == name) count = SaturatingSum(count, row.count);
  }
  return count;
}

std::vector<schema::TraceStatRow> OddityLedger::Take(int64_t first_id) {
  std::vector<schema::TraceStatRow> rows;
  for (auto& [key, row] : rows_) {
    row.id = first_id++;
    rows.push_back(std::move(row));
  }
  rows_.clear();
  return rows;
}

}  // namespace tutti::collector::importers
