#include "analyzer/replay/host_events.h"

namespace tutti::analyzer {
TimeKind KindOf(HostItem::Kind kind) {
  switch (kind) {
    case HostItem::Kind::kCompute:
      return TimeKind::kCompute;
    case HostItem::Kind::kLaunch:
      return TimeKind::kLaunch;
    case HostItem::Kind::kInput:
      return TimeKind::kInput;
    case HostItem::Kind::kBlocked:
      return TimeKind::kSync;
    case HostItem::Kind::kHandOver:
    case HostItem::Kind::kExchange:
    case HostItem::Kind::kStepEnd:
      break;
  }
  return TimeKind::kHost;
}

RankLabels::RankLabels(const RankSource& source, JobGraph& job)
    : job_(job), trace_(source.trace), place_(source.place), steps_(source.windows) {}

uint32_t RankLabels::Place(std::optional<int64_t> step) const {
  if (!step || job_.steps.empty()) return EventGraph::kNoStep;
  const int64_t place = *step - job_.steps.front().step;
  const bool is_taken = place >= 0 && place < static_cast<int64_t>(job_.steps.size());
  return is_taken ? static_cast<uint32_t>(place) : EventGraph::kNoStep;
}

uint32_t RankLabels::Name(int64_t name_id) {
  const auto [known, is_new] = names_.try_emplace(name_id, 0);
  if (is_new) known->second = job_.names.Intern(trace_.Text(name_id));
  return known->second;
}

std::vector<ItemEvents> AddItems(const HostTrack& track, RankLabels& labels) {
  std::vector<ItemEvents> events;
  events.reserve(track.size());
  for (const HostItem& item : track) {
    const uint32_t step = item.kind == HostItem::Kind::kStepEnd
                              ? labels.StepPlace(item.step)
                              : labels.StepByHost(item.time.begin_ns);
    ItemEvents added{item};
    added.begin = labels.AddEvent(item.time.begin_ns, step);
    added.end = item.kind == HostItem::Kind::kStepEnd ? added.begin
                                                      : labels.AddEvent(item.time.end_ns, step);
    events.push_back(added);
  }
  return events;
}

void LinkItems(const std::vector<ItemEvents>& items, const std::vector<int64_t>& own_gap_ns,
               RankLabels& labels) {
  size_t latest = 0;  // of the items so far, that which ends last
  for (size_t i = 1; i < items.size(); ++i) {
    const int64_t begin_ns = items[i].item.time.begin_ns;
    const int64_t gap_ns = begin_ns - items[latest].item.time.end_ns;
    if (gap_ns >= 0) {
      labels.AddEdge(items[i].begin, items[latest].end, own_gap_ns.empty() ? gap_ns : own_gap_ns[i],
                     TimeKind::kHost);
    } else {
      labels.AddEdge(items[i].begin, items[i - 1].begin, begin_ns - items[i - 1].item.time.begin_ns,
                     TimeKind::kHost);
    }
    if (items[i].item.time.end_ns >= items[latest].item.time.end_ns) latest = i;
  }
}

void LinkDuration(const ItemEvents& item, int64_t usual_ns, TimeKind kind, RankLabels& labels) {
  if (item.end == item.begin) return;
  labels.AddEdge(item.end, item.begin, usual_ns, kind, labels.Name(item.item.name_id));
}

}  // namespace tutti::analyzer
