#include "viewer/model/clocks.h"

#include <algorithm>

namespace tutti::viewer {

std::vector<int64_t> OwnClockShifts(const RunSummary& summary) {
  std::vector<int64_t> shifts;
  if (summary.has_two_runs()) return shifts;
  for (const schema::RankRow& rank : summary.ranks) {
    shifts.push_back(summary.ranks.front().clock_offset_ns - rank.clock_offset_ns);
  }
  const bool is_one_clock =
      std::all_of(shifts.begin(), shifts.end(), [](int64_t shift) { return shift == 0; });
  return is_one_clock ? std::vector<int64_t>() : shifts;
}

std::optional<int64_t> ClockErrorNs(const RunSummary& summary, size_t slot) {
  const schema::RankRow& own = summary.ranks[slot];
  const bool has_others = std::any_of(
      summary.ranks.begin(), summary.ranks.end(),
      [&](const schema::RankRow& rank) { return rank.clock_domain != own.clock_domain; });
  return has_others ? own.clock_error_ns : std::nullopt;
}

std::shared_ptr<const RankTrace> MovedBy(const RankTrace& trace, int64_t shift_ns) {
  auto moved = std::make_shared<RankTrace>(trace);
  for (Track& track : moved->tracks) {
    for (Lane& lane : track.lanes) lane = lane.MovedBy(shift_ns);
    track.series = track.series.MovedBy(shift_ns);
  }
  return moved;
}

}  // namespace tutti::viewer
