#include "exporter/perfetto/slice_nesting.h"

namespace tutti::exporter::perfetto {

std::optional<SliceNesting::Ended> SliceNesting::PopEnded(int64_t time_ns) {
  if (next_end_.empty() || next_end_.begin()->first > time_ns) return std::nullopt;
  const auto [end_ns, track] = *next_end_.begin();
  next_end_.erase(next_end_.begin());
  open_[track].pop_back();
  if (!open_[track].empty()) next_end_.emplace(open_[track].back(), track);
  return Ended{track, end_ns};
}

size_t SliceNesting::Place(int64_t end_ns) {
  size_t track = 0;
  while (track < open_.size() && !open_[track].empty() && open_[track].back() < end_ns) ++track;
  if (track == open_.size()) open_.emplace_back();
  if (!open_[track].empty()) next_end_.erase({open_[track].back(), track});
  open_[track].push_back(end_ns);
  next_end_.emplace(end_ns, track);
  return track;
}

void SliceNesting::Clear() {
  open_.clear();
  next_end_.clear();
}

}  // namespace tutti::exporter::perfetto
