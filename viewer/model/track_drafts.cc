#include "viewer/model/track_drafts.h"

#include <algorithm>

#include "viewer/model/lane_builder.h"

namespace tutti::viewer {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// Files may come from anywhere: differences of such times do not overflow.
int64_t Sane(int64_t time_ns) {
  constexpr int64_t kLimit = int64_t{1} << 61;  // the year 2043
  return std::clamp(time_ns, -kLimit, kLimit);
}

// Sums since the start as what was added per `per_ns` until the next sample.
std::vector<Sample> RatesOf(std::vector<Sample> sums, int64_t per_ns) {
  std::stable_sort(sums.begin(), sums.end(),
                   [](const Sample& a, const Sample& b) { return a.time_ns < b.time_ns; });
  for (size_t i = 0; i + 1 < sums.size(); ++i) {
    const auto span =
        static_cast<double>(std::max<int64_t>(1, sums[i + 1].time_ns - sums[i].time_ns));
    sums[i].value = (sums[i + 1].value - sums[i].value) * static_cast<double>(per_ns) / span;
  }
  if (!sums.empty()) sums.back().value = sums.size() > 1 ? sums[sums.size() - 2].value : 0;
  return sums;
}

}  // namespace

void TrackDrafts::Begin(const Key& key, std::string label, Track* track) const {
  std::tie(track->kind, track->device, track->id) = key;
  track->label = std::move(label);
  if (track->kind != TrackKind::kThread && track->kind != TrackKind::kStream) return;
  const auto role = summary_.lane_roles.find({rank_.rank, track->device, track->id});
  if (role != summary_.lane_roles.end()) track->role = role->second;
}

int64_t TrackDrafts::Aligned(int64_t time_ns) const {
  return Sane(Sane(time_ns) + Sane(rank_.clock_offset_ns));
}

void TrackDrafts::Add(TrackDraft& draft, int64_t begin_ns, std::optional<int64_t> end_ns,
                      Event event) const {
  const int64_t aligned_ns = Aligned(begin_ns);
  event.begin_ns = times_(aligned_ns);
  event.is_open = !end_ns.has_value();
  // Where two runs share the axis an event keeps its length.
  const int64_t end =
      end_ns ? event.begin_ns + (Aligned(*end_ns) - aligned_ns) : Sane(rank_.end_ns);
  event.end_ns = std::max(event.begin_ns, end);
  draft.events.push_back(event);
}

void TrackDrafts::AddAligned(TrackDraft& draft, int64_t begin_ns, std::optional<int64_t> end_ns,
                             Event event) const {
  event.begin_ns = Sane(begin_ns);
  event.is_open = !end_ns.has_value();
  event.end_ns = std::max(event.begin_ns, Sane(end_ns.value_or(rank_.end_ns)));
  draft.events.push_back(event);
}

std::vector<Track> TrackDrafts::Take() {
  std::vector<Track> tracks;
  for (auto& [key, draft] : drafts_) {
    if (draft.events.empty() && draft.samples.empty()) continue;
    draft.track.lanes = BuildLanes(std::move(draft.events));
    if (draft.is_cumulative) {
      draft.samples = RatesOf(std::move(draft.samples), draft.track.unit == "ns" ? 1 : kSecondNs);
      draft.track.unit = draft.track.unit == "ns" ? "cores" : draft.track.unit + "/s";
    }
    for (Sample& sample : draft.samples) sample.time_ns = times_(sample.time_ns);
    draft.track.series = Series(std::move(draft.samples));
    tracks.push_back(std::move(draft.track));
    draft = TrackDraft();
  }
  return tracks;
}

}  // namespace tutti::viewer
