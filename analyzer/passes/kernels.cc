// Kernels, copies and fills of each step by what they do and by name; nodes of CUDA graphs.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/input/kernel_traits.h"
#include "analyzer/input/step_index.h"
#include "analyzer/metrics/percentile.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kMostNames = 32;

struct Tally {
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t longest_ns = 0;

  void Add(int64_t length_ns) {
    ++count;
    total_ns += length_ns;
    longest_ns = std::max(longest_ns, length_ns);
  }
};

// The step that the work belongs to: the one that launched it, as far as that is known.
std::optional<int64_t> StepOf(const DeviceEvent& event, std::span<const ApiEvent> calls,
                              const StepIndex& steps) {
  if (event.launch < 0) return steps.ByWindow(event.begin_ns);
  return steps.ByHost(calls[static_cast<size_t>(event.launch)].begin_ns);
}

// Kind and name: what op_stats tells apart.
using NameKey = std::pair<DeviceEvent::Kind, int64_t>;

std::set<NameKey> NamesThatTakeMost(std::span<const DeviceEvent> events) {
  std::map<NameKey, int64_t> total_ns;
  for (const DeviceEvent& event : events) {
    total_ns[{event.kind, event.name_id}] += event.time().length_ns();
  }
  std::vector<std::pair<int64_t, NameKey>> by_time;
  for (const auto& [name, ns] : total_ns) by_time.emplace_back(-ns, name);
  std::sort(by_time.begin(), by_time.end());
  if (by_time.size() > kMostNames) by_time.resize(kMostNames);
  std::set<NameKey> names;
  for (const auto& [ns, name] : by_time) names.insert(name);
  return names;
}

template <typename Row>
std::vector<Row> ToRows(int64_t rank,
                        const std::map<std::pair<int64_t, std::string>, Tally>& tallies) {
  std::vector<Row> rows;
  for (const auto& [key, tally] : tallies) {
    rows.push_back({rank, key.first, key.second, tally.count, tally.total_ns, tally.longest_ns});
  }
  return rows;
}

Status WriteSteps(RunContext& context, const schema::RankRow& rank, RankTrace& trace,
                  std::span<const DeviceEvent> events) {
  TUTTI_ASSIGN_OR_RETURN(const auto calls, trace.ApiCalls());
  TUTTI_ASSIGN_OR_RETURN(const auto windows, context.Read<schema::StepWindowRow>(
                                                 "WHERE rank = ?1 ORDER BY step", rank.rank));
  const StepIndex steps(windows);
  const std::set<NameKey> names = NamesThatTakeMost(events);
  KernelTraitsOf traits(trace);
  std::map<std::pair<int64_t, std::string>, Tally> categories;
  std::map<std::pair<int64_t, NameKey>, Tally> by_name_id;
  for (const DeviceEvent& event : events) {
    const std::optional<int64_t> step = StepOf(event, calls, steps);
    if (!step) continue;
    categories[{*step, traits(event).category}].Add(event.time().length_ns());
    const NameKey name{event.kind, event.name_id};
    if (names.contains(name)) by_name_id[{*step, name}].Add(event.time().length_ns());
  }
  // Two copy kinds may have one name: they differ in the kinds of memory.
  std::map<std::pair<int64_t, std::string>, Tally> kernels;
  for (const auto& [key, tally] : by_name_id) {
    DeviceEvent named;
    std::tie(named.kind, named.name_id) = key.second;
    Tally& sum = kernels[{key.first, trace.NameOf(named)}];
    sum.count += tally.count;
    sum.total_ns += tally.total_ns;
    sum.longest_ns = std::max(sum.longest_ns, tally.longest_ns);
  }
  TUTTI_RETURN_IF_ERROR(context.Write(ToRows<schema::StepCategoryRow>(rank.rank, categories)));
  return context.Write(ToRows<schema::StepKernelRow>(rank.rank, kernels));
}

Status WriteGraphNodes(RunContext& context, int64_t rank, const RankTrace& trace,
                       std::span<const DeviceEvent> events) {
  std::map<std::pair<int64_t, std::string>, std::vector<int64_t>> nodes;
  for (const DeviceEvent& event : events) {
    if (event.graph_node_id == 0) continue;
    nodes[{event.graph_node_id, trace.NameOf(event)}].push_back(event.time().length_ns());
  }
  std::vector<schema::GraphNodeRow> rows;
  for (auto& [key, lengths_ns] : nodes) {
    schema::GraphNodeRow row;
    row.rank = rank;
    std::tie(row.graph_node_id, row.name) = key;
    row.count = static_cast<int64_t>(lengths_ns.size());
    for (const int64_t ns : lengths_ns) row.total_ns += ns;
    row.p50_ns = LowerNearestRank(lengths_ns, 500);
    row.max_ns = LowerNearestRank(lengths_ns, 1000);
    rows.push_back(std::move(row));
  }
  return context.Write(rows);
}

Status Run(RunContext& context) {
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) -> Status {
    TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
    TUTTI_RETURN_IF_ERROR(WriteSteps(context, rank, trace, events));
    return WriteGraphNodes(context, rank.rank, trace, events);
  });
}

constexpr PassCheck kChecks[] = {
    {"kernels of a step are not longer than those of their categories",
     "SELECT count(*) FROM (SELECT k.step, k.rank, sum(k.total_ns) AS by_name FROM step_kernel AS k"
     " GROUP BY k.step, k.rank) AS n WHERE by_name > (SELECT sum(c.total_ns) FROM step_category AS"
     " c WHERE c.step = n.step AND c.rank = n.rank)"},
};

}  // namespace

extern const Pass kKernelsPass;
const Pass kKernelsPass{"kernels", Run, kChecks, PassScope::kRank};

}  // namespace tutti::analyzer
