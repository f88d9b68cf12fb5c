#include "analyzer/replay/excess_work.h"

#include <algorithm>
#include <tuple>

namespace tutti::analyzer {
namespace {

bool IsOwnWork(TimeKind kind) {
  return kind != TimeKind::kTransfer && kind != TimeKind::kUnsplit && kind != TimeKind::kIdle;
}

// What each is above the lower median of the others; 0 where it is below, or alone.
std::vector<int64_t> AboveTheOthers(const std::vector<int64_t>& work_ns) {
  std::vector<int64_t> above(work_ns.size(), 0);
  if (work_ns.size() < 2) return above;
  std::vector<int64_t> sorted = work_ns;
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = (sorted.size() - 2) / 2;  // of the others, counted without the own one
  for (size_t rank = 0; rank < work_ns.size(); ++rank) {
    const auto own = std::lower_bound(sorted.begin(), sorted.end(), work_ns[rank]);
    const bool is_below = middle < static_cast<size_t>(own - sorted.begin());
    const int64_t median_ns = sorted[is_below ? middle : middle + 1];
    above[rank] = std::max<int64_t>(work_ns[rank] - median_ns, 0);
  }
  return above;
}

}  // namespace

ExcessWork::ExcessWork(const EventGraph& graph, size_t ranks, size_t steps)
    : ranks_(ranks), steps_(steps) {
  std::unordered_map<uint64_t, size_t> places;  // in work_
  for (EventGraph::Id id = 0; id < graph.size(); ++id) {
    const EventGraph::Event& event = graph.event(id);
    if (event.step == EventGraph::kNoStep) continue;
    for (const EventGraph::Edge& edge : graph.EdgesInto(id)) {
      if (edge.weight_ns <= 0 || !IsOwnWork(edge.kind)) continue;
      const uint64_t key = KeyOf(event.rank, event.step, edge.kind, edge.name);
      const auto [found, is_new] = places.try_emplace(key, work_.size());
      if (is_new) work_.push_back({event.step, edge.kind, edge.name, event.rank, 0});
      work_[found->second].work_ns += edge.weight_ns;
    }
  }
  std::sort(work_.begin(), work_.end(), [](const OfName& a, const OfName& b) {
    return std::tie(a.step, a.kind, a.name, a.rank) < std::tie(b.step, b.kind, b.name, b.rank);
  });
}

ExcessWork::Factors ExcessWork::Without(const std::vector<bool>& is_chosen) const {
  Factors factors;
  for (size_t begin = 0; begin < work_.size();) {
    size_t end = begin;
    while (end < work_.size() && work_[end].step == work_[begin].step &&
           work_[end].kind == work_[begin].kind) {
      ++end;
    }
    AddFactors(begin, end, is_chosen, factors);
    begin = end;
  }
  return factors;
}

// Of one step and kind: work_[begin, end).
void ExcessWork::AddFactors(size_t begin, size_t end, const std::vector<bool>& is_chosen,
                            Factors& factors) const {
  std::vector<int64_t> total_ns(ranks_, 0);
  std::vector<int64_t> above_by_name_ns(ranks_, 0);  // sum over names
  std::vector<int64_t> above_ns(end - begin, 0);
  std::vector<int64_t> of_name_ns;
  for (size_t i = begin; i < end;) {
    of_name_ns.assign(ranks_, 0);
    size_t last = i;
    for (; last < end && work_[last].name == work_[i].name; ++last) {
      of_name_ns[work_[last].rank] = work_[last].work_ns;
      total_ns[work_[last].rank] += work_[last].work_ns;
    }
    const std::vector<int64_t> above = AboveTheOthers(of_name_ns);
    for (; i < last; ++i) {
      above_ns[i - begin] = above[work_[i].rank];
      above_by_name_ns[work_[i].rank] += above[work_[i].rank];
    }
  }
  const std::vector<int64_t> excess_ns = AboveTheOthers(total_ns);
  for (size_t i = begin; i < end; ++i) {
    const OfName& work = work_[i];
    if (!is_chosen[work.rank] || above_ns[i - begin] == 0 || excess_ns[work.rank] == 0) continue;
    // Names in which it is faster than the others make up for some of those in which it is slower.
    const double share = std::min(1.0, static_cast<double>(excess_ns[work.rank]) /
                                           static_cast<double>(above_by_name_ns[work.rank]));
    const double cut_ns = share * static_cast<double>(above_ns[i - begin]);
    factors[KeyOf(work.rank, work.step, work.kind, work.name)] =
        1 - cut_ns / static_cast<double>(work.work_ns);
  }
}

}  // namespace tutti::analyzer
