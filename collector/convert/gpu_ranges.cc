#include "collector/convert/gpu_ranges.h"

#include <algorithm>

namespace tutti::collector::convert {

void GpuRanges::OnRange(const schema::RangeRow& range) {
  if (range.kind != "push_pop" || !range.end_ns) return;
  if (ranges_.size() >= kMost) {
    is_cut_ = true;
    return;
  }
  ranges_.push_back({range.tid, range.name_id, {range.begin_ns, *range.end_ns}});
}

void GpuRanges::OnLaunch(int64_t tid, int64_t begin_ns, int64_t correlation_id) {
  if (launch_count_ >= kMost) {
    is_cut_ = true;
    return;
  }
  ++launch_count_;
  launches_[tid].push_back({begin_ns, correlation_id});
}

// All nodes of a graph's launch share a correlation: one entry for each stream.
void GpuRanges::Add(int64_t correlation_id, Place place, Span span) {
  std::vector<Work>& of_launch = work_[correlation_id];
  const auto same = std::find_if(of_launch.begin(), of_launch.end(),
                                 [&](const Work& work) { return work.place == place; });
  if (same != of_launch.end()) {
    same->span.begin_ns = std::min(same->span.begin_ns, span.begin_ns);
    same->span.end_ns = std::max(same->span.end_ns, span.end_ns);
    return;
  }
  if (work_count_ >= kMost) {
    is_cut_ = true;
    return;
  }
  ++work_count_;
  of_launch.push_back({place, span});
}

void GpuRanges::Project(const Range& range) {
  const auto thread = launches_.find(range.tid);
  if (thread == launches_.end()) return;
  const std::vector<Launch>& launches = thread->second;
  std::map<Place, Span> places;
  for (auto launch =
           std::lower_bound(launches.begin(), launches.end(), Launch{range.span.begin_ns, 0});
       launch != launches.end() && launch->begin_ns < range.span.end_ns; ++launch) {
    if (++visits_ > kMostVisits) {
      is_cut_ = true;
      return;
    }
    const auto work = work_.find(launch->correlation_id);
    if (work == work_.end()) continue;
    for (const Work& piece : work->second) {
      Span& span = places.try_emplace(piece.place, piece.span).first->second;
      span.begin_ns = std::min(span.begin_ns, piece.span.begin_ns);
      span.end_ns = std::max(span.end_ns, piece.span.end_ns);
    }
  }
  for (const auto& [place, span] : places) {
    context_.rows.Append(schema::GpuRangeRow{next_id_++, place.first, place.second, range.name_id,
                                             span.begin_ns, span.end_ns});
  }
}

void GpuRanges::Finish() {
  if (work_.empty()) return;
  for (auto& [tid, launches] : launches_) std::sort(launches.begin(), launches.end());
  for (const Range& range : ranges_) Project(range);
  if (!is_cut_) return;
  context_.findings.Add({wire::NoteSeverity::kInfo, "gpu_ranges_cut", "collector.convert",
                         "there are too many ranges or launches to show all ranges on the GPU",
                         "record a window of steps"});
}

}  // namespace tutti::collector::convert
