#include "viewer/model/grouping.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace tutti::viewer {
namespace {

// Two numbers that tell a group from others.
using Key = std::pair<int64_t, int64_t>;

class Grouper {
 public:
  Grouper(const RunSummary& summary, const RankTraces& ranks, const NameTable& names, GroupBy by)
      : summary_(summary), ranks_(ranks), names_(names), by_(by) {}

  void Add(const EventRef& ref, const Lane& lane, int64_t begin_ns, int64_t end_ns) {
    // A lane has few groups: its events are added up by their entries of its dictionary.
    std::vector<GroupTotal*> group_of(lane.names().size());
    const bool differs = by_ == GroupBy::kStep || by_ == GroupBy::kCaller;  // of equal names
    if (by_ == GroupBy::kCaller) callers_ = CallersOf(ref);
    caller_ = 0;
    for (uint32_t i = lane.FirstEndingAfter(begin_ns); i < lane.size(); ++i) {
      const int64_t begin = lane.begin_ns(i);
      if (begin >= end_ns) break;
      GroupTotal*& group = group_of[lane.name_index(i)];
      if (group == nullptr || differs) group = &GroupOf(ref, lane.name(i), begin);
      const int64_t duration = lane.duration_ns(i);
      ++group->count;
      group->total_ns += std::min(end_ns, begin + duration) - std::max(begin_ns, begin);
      group->longest_ns = std::max(group->longest_ns, duration);
    }
  }

  std::vector<GroupTotal> Take() {
    std::vector<GroupTotal> totals;
    for (auto& [key, total] : groups_) {
      total.label = LabelOf(key);
      totals.push_back(std::move(total));
    }
    std::stable_sort(totals.begin(), totals.end(), [](const GroupTotal& a, const GroupTotal& b) {
      return a.total_ns > b.total_ns;
    });
    return totals;
  }

 private:
  GroupTotal& GroupOf(const EventRef& ref, const LaneName& name, int64_t time_ns) {
    const auto [found, is_new] = groups_.try_emplace(KeyOf(ref, name, time_ns));
    if (is_new) {
      found->second.category = name.category;
      found->second.name = name.name;
    }
    return found->second;
  }

  Key KeyOf(const EventRef& ref, const LaneName& name, int64_t time_ns) {
    switch (by_) {
      case GroupBy::kName:
        return {name.name, static_cast<int64_t>(name.category)};
      case GroupBy::kCategory:
        return {static_cast<int64_t>(name.category), 0};
      case GroupBy::kRank:
        return {ref.rank, 0};
      case GroupBy::kRow:
        return {ref.rank, ref.track};
      case GroupBy::kStep:
        return {StepAt(time_ns), 0};
      case GroupBy::kCaller:
        return {CallerAt(time_ns), 0};
    }
    return {};
  }

  // The calls one level above those of a lane, if it has calls.
  const Lane* CallersOf(const EventRef& ref) const {
    const Track& track = ranks_[ref.rank]->tracks[ref.track];
    return track.kind == TrackKind::kThread && ref.lane > 0 ? &track.lanes[ref.lane - 1] : nullptr;
  }

  // The name of the call that holds `time_ns`, -1 none; times are asked for in order.
  int64_t CallerAt(int64_t time_ns) {
    if (callers_ == nullptr) return -1;
    if (caller_ == 0) caller_ = callers_->FirstEndingAfter(time_ns);
    while (caller_ + 1 < callers_->size() && callers_->begin_ns(caller_ + 1) <= time_ns) ++caller_;
    const bool holds = caller_ < callers_->size() && callers_->begin_ns(caller_) <= time_ns &&
                       time_ns <= callers_->end_ns(caller_);
    return holds ? static_cast<int64_t>(callers_->name(caller_).name) : -1;
  }

  int64_t StepAt(int64_t time_ns) const {
    const auto next = std::partition_point(
        summary_.steps.begin(), summary_.steps.end(),
        [time_ns](const schema::RunStepRow& step) { return step.begin_ns <= time_ns; });
    if (next == summary_.steps.begin() || (next - 1)->end_ns <= time_ns) return -1;
    return next - 1 - summary_.steps.begin();
  }

  std::string LabelOf(const Key& key) const {
    const auto place = static_cast<size_t>(key.first);
    switch (by_) {
      case GroupBy::kName:
        return std::string(names_.Text(static_cast<NameId>(key.first)));
      case GroupBy::kCategory:
        return std::string(CategoryName(static_cast<Category>(key.first)));
      case GroupBy::kRank:
        return summary_.RankName(summary_.ranks[place].rank);
      case GroupBy::kRow:
        return summary_.RankName(summary_.ranks[place].rank) + "  " +
               ranks_[place]->tracks[static_cast<size_t>(key.second)].label;
      case GroupBy::kStep:
        return key.first < 0 ? "no step" : "step " + std::to_string(summary_.steps[place].number);
      case GroupBy::kCaller:
        return key.first < 0 ? "no caller"
                             : std::string(names_.Text(static_cast<NameId>(key.first)));
    }
    return "";
  }

  const RunSummary& summary_;
  const RankTraces& ranks_;
  const NameTable& names_;
  GroupBy by_;
  const Lane* callers_ = nullptr;  // of the lane that is being added
  uint32_t caller_ = 0;            // the last that was looked at
  std::map<Key, GroupTotal> groups_;
};

}  // namespace

const char* NameOf(GroupBy by) {
  constexpr std::array<const char*, kGroupings> kNames = {"name", "category", "rank",
                                                          "row",  "step",     "caller"};
  return kNames[static_cast<size_t>(by)];
}

std::vector<GroupTotal> GroupEvents(const RunSummary& summary, const RankTraces& ranks,
                                    const NameTable& names, int64_t begin_ns, int64_t end_ns,
                                    GroupBy by) {
  Grouper grouper(summary, ranks, names, by);
  ForEachLane(ranks, [&](const EventRef& ref, const Lane& lane) {
    const bool is_of_steps = ranks[ref.rank]->tracks[ref.track].kind == TrackKind::kSteps;
    if (is_of_steps && by != GroupBy::kName) return;
    grouper.Add(ref, lane, begin_ns, end_ns);
  });
  return grouper.Take();
}

}  // namespace tutti::viewer
