// What would be different: which stretches of time of a job take how long, in a replay.
// Immutable once made; callable from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyzer/replay/event_graph.h"
#include "analyzer/replay/excess_work.h"
#include "analyzer/replay/gradients.h"
#include "common/status.h"

namespace tutti::analyzer {

// As a user gives it, one or several together:
//   no-stragglers        no rank needs longer for its own work than the median rank
//   rank-at-median=3     the same of rank 3 only
//   no-input-wait        batches are always ready
//   no-exposed-comm      collectives move their data in no time; late ranks are waited for still
//   no-copies            copies take no time
//   no-syncs             the host never waits for the device
//   bandwidth=2          collectives move their data twice as fast
//   launch=0.5           launches take half the time
//   host=0.5             host time between operators and launches takes half the time
//   op=PATTERN:0.5       operators, kernels and collectives of this name take half the time
//                        (* any text, ? one character)
//   bucket-mb=25         gradients are all-reduced in buckets of so many MiB (bucket_cap_mb)
//   balanced             each operator and kernel takes its mean, each collective its median,
//                        over all ranks and steps; balanced=6,7 those of these ranks only
//   no-gaps              nothing that is unexplained takes time
struct Scenario {
  std::string text = "unchanged";
  std::array<double, kTimeKinds> factor_of_kind = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  bool without_blocks = false;
  bool all_at_median = false;
  std::vector<int64_t> ranks_at_median;
  std::vector<std::pair<std::string, double>> factor_of_pattern;
  std::optional<double> bucket_mib;
  bool is_balanced = false;
  std::vector<int64_t> balanced_ranks;  // empty: all

  // kUsage says what is wrong and what there is.
  static Result<Scenario> Parse(const std::vector<std::string>& words);
};

// The scenario applied to a graph: what EventGraph::Times takes. `ranks[i]` is the rank at
// place i, `names[i]` the text of a name; without `gradients` buckets stay as they are. Lives no
// longer than the graph.
class ScenarioWeights {
 public:
  ScenarioWeights(const EventGraph& graph, const Scenario& scenario,
                  const std::vector<int64_t>& ranks, const std::vector<std::string>& names,
                  const ExcessWork& excess, const Gradients& gradients = {});

  int64_t operator()(EventGraph::Id id, const EventGraph::Edge& edge) const {
    if (edge.is_block && without_blocks_) return EventGraph::kNever;
    if (is_unchanged_) return edge.weight_ns;
    const auto kind = static_cast<size_t>(edge.kind);
    if (!transfer_of_end_.empty() && edge.kind == TimeKind::kTransfer) {
      const auto transfer = transfer_of_end_.find(id);
      if (transfer != transfer_of_end_.end()) return Times(transfer->second, factor_of_kind_[kind]);
    }
    if (edge.weight_ns <= 0) return edge.weight_ns;
    double factor = factor_of_kind_[kind];
    if (!factor_of_name_.empty()) factor *= factor_of_name_[edge.name];
    int64_t weight_ns = edge.weight_ns;
    if (!usual_of_name_.empty() && edge.name != 0 && is_balanced_[graph_.event(id).rank]) {
      weight_ns = usual_of_name_[edge.name * kTimeKinds + kind].value_or(weight_ns);
    }
    if (!factor_of_work_.empty()) {
      const EventGraph::Event& event = graph_.event(id);
      if (event.step != EventGraph::kNoStep) factor *= FactorOfWork(event, edge);
    }
    return factor == 1 ? weight_ns : Times(weight_ns, factor);
  }

 private:
  static constexpr double kLongestNs = 1e15;  // days: so that no path overflows

  static int64_t Times(int64_t weight_ns, double factor) {
    return std::llround(std::min(static_cast<double>(weight_ns) * factor, kLongestNs));
  }

  double FactorOfWork(const EventGraph::Event& event, const EventGraph::Edge& edge) const {
    const auto found =
        factor_of_work_.find(excess_.KeyOf(event.rank, event.step, edge.kind, edge.name));
    return found == factor_of_work_.end() ? 1 : found->second;
  }
  void SetRanksAtMedian(const Scenario& scenario, const std::vector<int64_t>& ranks);
  void SetBalanced(const Scenario& scenario, const std::vector<int64_t>& ranks, size_t names);

  const EventGraph& graph_;
  const ExcessWork& excess_;
  bool is_unchanged_ = false;
  bool without_blocks_ = false;
  std::array<double, kTimeKinds> factor_of_kind_;
  std::vector<double> factor_of_name_;
  ExcessWork::Factors factor_of_work_;
  std::vector<std::optional<int64_t>> usual_of_name_;
  std::vector<bool> is_balanced_;  // by place of the rank
  std::unordered_map<EventGraph::Id, int64_t> transfer_of_end_;
};

}  // namespace tutti::analyzer
