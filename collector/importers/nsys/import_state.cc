#include "collector/importers/nsys/import_state.h"

namespace tutti::collector::importers::nsys {

RankOutput* ImportState::RankOf(std::optional<int64_t> global_id) {
  if (!global_id) return ranks.size() == 1 ? &ranks.front() : nullptr;
  const auto found = place.find(ProcessOf(*global_id));
  return found == place.end() ? nullptr : &ranks[found->second];
}

void ImportState::Skip(const TableCursor& row, SkipReason reason, RankOutput* rank) {
  const size_t where =
      rank == nullptr ? SkippedRows::kNoRank : static_cast<size_t>(rank - ranks.data());
  skipped.Add(where, reason, row.table(), row.rowid());
}

std::optional<TraceInterval> IntervalOf(ImportState& state, const TableCursor& row,
                                        RankOutput* rank, std::optional<int64_t> start,
                                        std::optional<int64_t> end) {
  if (!start || !end) {
    state.Skip(row, SkipReason::kMissingValue, rank);
    return std::nullopt;
  }
  if (*end < *start) {
    state.Skip(row, SkipReason::kEndBeforeStart, rank);
    return std::nullopt;
  }
  const std::optional<int64_t> begin_ns = state.session.clock.ToTrace(*start);
  const std::optional<int64_t> end_ns = state.session.clock.ToTrace(*end);
  if (!begin_ns || !end_ns) {
    state.Skip(row, SkipReason::kTimeOutOfRange, rank);
    return std::nullopt;
  }
  return TraceInterval{*begin_ns, *end_ns};
}

}  // namespace tutti::collector::importers::nsys
