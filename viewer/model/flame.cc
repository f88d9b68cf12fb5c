#include "viewer/model/flame.h"

#include <algorithm>

namespace tutti::viewer {
namespace {

constexpr float kNarrowest = 0.5F;

int64_t SumOf(const BothNs& both) { return both[0] + both[1]; }

// Events of all lanes of a track in order of begin, outer ones first.
class InOrder {
 public:
  InOrder(const Track& track, int64_t begin_ns, int64_t end_ns) : track_(track), end_ns_(end_ns) {
    for (const Lane& lane : track.lanes) next_.push_back(lane.FirstEndingAfter(begin_ns));
  }

  // False: there is no more.
  bool Next(Event* event) {
    const Lane* first = nullptr;
    size_t place = 0;
    for (size_t i = 0; i < next_.size(); ++i) {
      const Lane& lane = track_.lanes[i];
      if (next_[i] >= lane.size()) continue;
      // Lanes are nested: of those that begin together the upper one is the outer one.
      if (first == nullptr || lane.begin_ns(next_[i]) < first->begin_ns(next_[place])) {
        first = &lane;
        place = i;
      }
    }
    if (first == nullptr || first->begin_ns(next_[place]) >= end_ns_) return false;
    *event = first->event(next_[place]++);
    return true;
  }

 private:
  const Track& track_;
  int64_t end_ns_;
  std::vector<uint32_t> next_;
};

}  // namespace

uint32_t FlameGraph::ChildOf(uint32_t parent, NameId name, Category category) {
  const auto [found, is_new] = places_.try_emplace(std::tuple(parent, name, category), 0);
  if (is_new) {
    found->second = static_cast<uint32_t>(nodes_.size());
    FlameNode node;
    node.name = name;
    node.category = category;
    node.parent = parent;
    node.depth = nodes_[parent].depth + 1;
    nodes_.push_back(std::move(node));
    nodes_[parent].children.push_back(found->second);
  }
  return found->second;
}

void FlameGraph::AddTrack(const Track& track, int64_t begin_ns, int64_t end_ns, size_t side) {
  struct Open {
    int64_t end_ns;
    uint32_t node;
  };
  std::vector<Open> open;
  InOrder events(track, begin_ns, end_ns);
  for (Event event; events.Next(&event);) {
    while (!open.empty() &&
           (open.back().end_ns <= event.begin_ns || open.back().end_ns < event.end_ns)) {
      open.pop_back();
    }
    const uint32_t parent = open.empty() ? 0 : open.back().node;
    const uint32_t place = ChildOf(parent, event.name, event.category);
    const int64_t inside =
        std::max<int64_t>(0, std::min(end_ns, event.end_ns) - std::max(begin_ns, event.begin_ns));
    FlameNode& node = nodes_[place];
    node.total_ns[side] += inside;
    node.self_ns[side] += inside;
    ++node.count[side];
    if (parent == 0) {
      nodes_[0].total_ns[side] += inside;
    } else {
      nodes_[parent].self_ns[side] -= inside;
    }
    open.push_back({event.end_ns, place});
  }
}

void FlameGraph::Add(const RankTraces& ranks, int64_t begin_ns, int64_t end_ns, size_t side,
                     const std::function<bool(uint32_t rank, const Track&)>& wanted) {
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank] == nullptr) continue;
    for (const Track& track : ranks[rank]->tracks) {
      if (wanted(rank, track)) AddTrack(track, begin_ns, end_ns, side);
    }
  }
}

void FlameGraph::Finish() {
  for (FlameNode& node : nodes_) {
    std::stable_sort(node.children.begin(), node.children.end(), [&](uint32_t a, uint32_t b) {
      return SumOf(nodes_[a].total_ns) > SumOf(nodes_[b].total_ns);
    });
  }
}

std::vector<FlameBox> LayOut(const FlameGraph& graph, uint32_t top, float width_px) {
  const std::vector<FlameNode>& nodes = graph.nodes();
  if (top >= nodes.size() || SumOf(nodes[top].total_ns) <= 0) return {};
  const double px_per_ns =
      static_cast<double>(width_px) / static_cast<double>(SumOf(nodes[top].total_ns));
  std::vector<FlameBox> boxes = {{top, 0, width_px, 0}};
  for (size_t i = 0; i < boxes.size(); ++i) {
    float x = boxes[i].x0;
    const uint32_t row = boxes[i].row + 1;
    const std::vector<uint32_t>& children = nodes[boxes[i].node].children;
    for (const uint32_t child : children) {
      const auto width =
          static_cast<float>(static_cast<double>(SumOf(nodes[child].total_ns)) * px_per_ns);
      if (width < kNarrowest) break;  // those behind it are narrower still
      boxes.push_back({child, x, x + width, row});
      x += width;
    }
  }
  return boxes;
}

}  // namespace tutti::viewer
