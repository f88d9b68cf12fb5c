#include "analyzer/metrics/collective_sources.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace tutti::analyzer {
namespace {

// Nearest to the work first.
// A flight recorder knows whether the work was over, which c10d's calls on the host don't.
constexpr std::array<std::string_view, 6> kOrigins = {"gloo_op",   "kernel",          "nccl_plugin",
                                                      "nccl_nvtx", "flight_recorder", "c10d"};

size_t DistanceOf(std::string_view origin) {
  return static_cast<size_t>(std::find(kOrigins.begin(), kOrigins.end(), origin) -
                             kOrigins.begin());
}

template <typename T>
void FillIn(std::optional<T>& value, const std::optional<T>& other) {
  if (!value) value = other;
}
void FillIn(std::string& value, const std::string& other) {
  if (value.empty()) value = other;
}

// `far` is the source that is farther from the work.
void Merge(SourceCall& call, const SourceCall& far) {
  FillIn(call.communicator_id, far.communicator_id);
  FillIn(call.sequence, far.sequence);
  FillIn(call.op, far.op);
  FillIn(call.dtype, far.dtype);
  FillIn(call.bytes, far.bytes);
  FillIn(call.enqueue_ns, far.enqueue_ns);
  FillIn(call.peer, far.peer);
  FillIn(call.root, far.root);
  FillIn(call.correlation_id, far.correlation_id);
  if (!call.begin_ns && far.begin_ns) {
    call.begin_ns = far.begin_ns;
    call.end_ns = far.end_ns;
    call.id = far.id;
    call.origin = far.origin;
  }
}

int64_t OrderOf(const SourceCall& call) {
  if (call.enqueue_ns) return *call.enqueue_ns;
  return call.begin_ns.value_or(0);
}

}  // namespace

bool IsOpen(const SourceCall& call) {
  return !call.end_ns && (call.begin_ns || call.origin != "nccl_nvtx");
}

std::vector<SourceCall> JoinSources(std::span<const SourceCall> rows) {
  std::vector<const SourceCall*> by_distance;
  for (const SourceCall& row : rows) by_distance.push_back(&row);
  std::stable_sort(by_distance.begin(), by_distance.end(), [](const auto* a, const auto* b) {
    return DistanceOf(a->origin) < DistanceOf(b->origin);
  });

  std::vector<SourceCall> calls;
  std::vector<std::set<std::string>> origins;  // joined so far, by call
  std::map<std::tuple<int64_t, int64_t, std::string>, std::vector<size_t>> by_sequence;
  std::map<int64_t, std::vector<size_t>> by_correlation;
  for (const SourceCall* row : by_distance) {
    std::vector<size_t> candidates;
    if (row->communicator_id && row->sequence) {
      candidates = by_sequence[{*row->communicator_id, *row->sequence, row->op}];
    }
    if (row->correlation_id) {
      const std::vector<size_t>& same = by_correlation[*row->correlation_id];
      candidates.insert(candidates.end(), same.begin(), same.end());
    }
    const auto place = std::find_if(candidates.begin(), candidates.end(), [&](size_t call) {
      return !origins[call].contains(row->origin);
    });
    const size_t call = place == candidates.end() ? calls.size() : *place;
    if (place == candidates.end()) {
      calls.push_back(*row);
      origins.emplace_back();
    } else {
      Merge(calls[call], *row);
    }
    origins[call].insert(row->origin);
    if (calls[call].communicator_id && calls[call].sequence) {
      by_sequence[{*calls[call].communicator_id, *calls[call].sequence, calls[call].op}].push_back(
          call);
    }
    if (calls[call].correlation_id) by_correlation[*calls[call].correlation_id].push_back(call);
  }
  std::stable_sort(calls.begin(), calls.end(), [](const SourceCall& a, const SourceCall& b) {
    return std::pair(OrderOf(a), a.id) < std::pair(OrderOf(b), b.id);
  });
  return calls;
}

}  // namespace tutti::analyzer
