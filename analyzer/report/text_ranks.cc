#include <algorithm>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/report/format.h"
#include "analyzer/report/text_sections.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kMostRanks = 32;

using Rows = std::vector<std::vector<std::string>>;

// Ranks in the order in which they are worth a look: as they are if all fit, else those
// that make others wait longest.
std::vector<const schema::RankSummaryRow*> RanksToShow(const ReportData& data) {
  std::vector<const schema::RankSummaryRow*> ranks;
  for (const schema::RankSummaryRow& row : data.rank_summaries) ranks.push_back(&row);
  if (ranks.size() <= kMostRanks) return ranks;
  std::map<int64_t, int64_t> cost;
  for (const schema::StragglerRow& row : data.stragglers) cost[row.rank] = row.net_cost_ns;
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](const auto* a, const auto* b) { return cost[a->rank] > cost[b->rank]; });
  ranks.resize(kMostRanks);
  return ranks;
}

std::string LastIn(const ReportData& data, int64_t rank) {
  for (const schema::StragglerRow& row : data.stragglers) {
    if (row.rank == rank && row.collectives > 0) {
      return PercentOf(static_cast<double>(row.times_last), static_cast<double>(row.collectives));
    }
  }
  return "-";
}

std::string PeakOf(const ReportData& data, int64_t rank) {
  std::optional<int64_t> peak;
  for (const schema::MemoryPeakRow& row : data.memory) {
    if (row.rank == rank) peak = std::max(peak.value_or(0), row.peak_bytes);
  }
  return peak ? Bytes(*peak) : "-";
}

// Ranks whose lateness reaches those that don't wait for them: at most three, above 2 % of a step.
std::string PassedOn(const ReportData& data) {
  std::vector<std::pair<int64_t, int64_t>> by_wait;
  for (const schema::RankRow& rank : data.ranks) {
    const int64_t wait_ns = data.PassedOnNs(rank.rank);
    if (wait_ns * 50 > data.Integer("step.median_ns").value_or(0)) {
      by_wait.emplace_back(-wait_ns, rank.rank);
    }
  }
  std::sort(by_wait.begin(), by_wait.end());
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(by_wait.size(), 3); ++i) {
    text += Wrap("because of rank " + std::to_string(by_wait[i].second) +
                     " ranks that don't wait for it wait " + MsOrDash(-by_wait[i].first) +
                     " ms per step in all, for ranks that did (wait_cause)",
                 kColumns, 2, 4) +
            "\n";
  }
  return text;
}

}  // namespace

std::string Ranks(const ReportData& data, const Painter& paint) {
  Rows rows = {{"rank", "step ms", "p99 ms", "compute", "transfer", "wait", "input", "host",
                "other", "late", "peak mem"}};
  const std::vector<const schema::RankSummaryRow*> shown = RanksToShow(data);
  for (const schema::RankSummaryRow* rank : shown) {
    const auto parts = data.rank_parts.find(rank->rank);
    if (parts == data.rank_parts.end()) continue;
    const auto mean = [&](std::initializer_list<const char*> names) {
      double sum = 0;
      for (const char* name : names) {
        const auto part = parts->second.find(name);
        if (part != parts->second.end()) sum += static_cast<double>(part->second.total_ns);
      }
      return Milliseconds(sum / static_cast<double>(std::max<int64_t>(rank->steps, 1)));
    };
    rows.push_back({std::to_string(rank->rank), MsOrDash(rank->step_median_ns),
                    MsOrDash(rank->step_p99_ns), mean({"compute"}),
                    mean({"exposed_comm_transfer", "exposed_comm_unsplit"}),
                    mean({"exposed_comm_wait"}), mean({"input_wait"}), mean({"host_bound"}),
                    mean({"exposed_copy", "sync", "idle"}), LastIn(data, rank->rank),
                    PeakOf(data, rank->rank)});
  }
  if (rows.size() == 1) return "";
  std::string text = "\n" + paint.Bold("Ranks") +
                     "  median and p99 of the step; parts in ms, means; "
                     "late: share of collectives it is last in\n" +
                     Table(rows, 0);
  if (shown.size() < data.rank_summaries.size()) {
    text += "  and " + WithCommas(static_cast<int64_t>(data.rank_summaries.size() - shown.size())) +
            " more in rank_summary\n";
  }
  return text + PassedOn(data);
}

}  // namespace tutti::analyzer
