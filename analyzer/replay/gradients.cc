#include "analyzer/replay/gradients.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "analyzer/input/limits.h"

namespace tutti::analyzer {
namespace {

// The edge along which data moves to the call's end.
const EventGraph::Edge* TransferOf(const EventGraph& graph, EventGraph::Id end) {
  for (const EventGraph::Edge& edge : graph.EdgesInto(end)) {
    if (edge.kind == TimeKind::kTransfer) return &edge;
  }
  return nullptr;
}

// When the call could have begun had it not waited for the gradients sent before it.
int64_t ReadyNs(const EventGraph& graph, EventGraph::Id begin,
                const std::unordered_set<EventGraph::Id>& ends) {
  int64_t ready_ns = std::numeric_limits<int64_t>::min();
  for (const EventGraph::Edge& edge : graph.EdgesInto(begin)) {
    if (ends.contains(edge.from)) continue;
    ready_ns = std::max(ready_ns, graph.event(edge.from).measured_ns + edge.weight_ns);
  }
  const int64_t begun_ns = graph.event(begin).measured_ns;
  return ready_ns == std::numeric_limits<int64_t>::min() ? begun_ns : std::min(ready_ns, begun_ns);
}

SentBucket Sent(const EventGraph& graph, const GradientBucket& bucket,
                const std::unordered_set<EventGraph::Id>& ends) {
  SentBucket sent{std::numeric_limits<int64_t>::min(), bucket.bytes,
                  std::numeric_limits<int64_t>::max()};
  for (const auto& [begin, end] : bucket.calls) {
    sent.ready_ns = std::max(sent.ready_ns, ReadyNs(graph, begin, ends));
    const EventGraph::Edge* const transfer = TransferOf(graph, end);
    const int64_t transfer_ns = transfer == nullptr ? 0 : transfer->weight_ns;
    sent.transfer_ns = std::min(sent.transfer_ns, std::max<int64_t>(transfer_ns, 0));
  }
  return sent;
}

void AddStep(const EventGraph& graph, const Gradients& gradients, const GradientStep& step,
             BucketSizes sizes, std::unordered_map<EventGraph::Id, int64_t>& transfers) {
  std::unordered_set<EventGraph::Id> ends;
  for (const GradientBucket& bucket : step.buckets) {
    for (const auto& call : bucket.calls) ends.insert(call.second);
  }
  std::vector<std::pair<SentBucket, const GradientBucket*>> sent;
  for (const GradientBucket& bucket : step.buckets) {
    sent.emplace_back(Sent(graph, bucket, ends), &bucket);
  }
  std::stable_sort(sent.begin(), sent.end(), [](const auto& a, const auto& b) {
    return a.first.ready_ns < b.first.ready_ns;
  });
  std::vector<SentBucket> as_sent;
  int64_t bytes = 0;
  for (const auto& [bucket, calls] : sent) {
    as_sent.push_back(bucket);
    bytes = SaturatingAdd(bytes, bucket.bytes);
  }
  const int64_t parameter_bytes = gradients.parameters == 0 ? 0 : bytes / gradients.parameters;
  const std::vector<int64_t> now_ns =
      TransfersInBuckets(as_sent, step.first_ns, gradients.cost, sizes, parameter_bytes);
  for (size_t i = 0; i < sent.size(); ++i) {
    for (const auto& [begin, end] : sent[i].second->calls) {
      const EventGraph::Edge* const transfer = TransferOf(graph, end);
      if (transfer == nullptr) continue;
      // By what a rank sees the end later than the first does it would still.
      const int64_t later_ns = std::max<int64_t>(transfer->weight_ns - as_sent[i].transfer_ns, 0);
      transfers.emplace(end, now_ns[i] == 0 ? 0 : now_ns[i] + later_ns);
    }
  }
}

}  // namespace

std::unordered_map<EventGraph::Id, int64_t> TransfersInBuckets(const EventGraph& graph,
                                                               const Gradients& gradients,
                                                               double bucket_mib) {
  std::unordered_map<EventGraph::Id, int64_t> transfers;
  for (const GradientStep& step : gradients.steps) {
    AddStep(graph, gradients, step, BucketSizesOf(bucket_mib), transfers);
  }
  return transfers;
}

}  // namespace tutti::analyzer
