#include "analyzer/report/series.h"

#include <algorithm>
#include <set>
#include <utility>

#include "analyzer/metrics/percentile.h"
#include "schema/reader.h"
#include "schema/trace_file.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kMostCells = 24'000;  // groups of steps x ranks
constexpr size_t kMostGroups = 240;
constexpr size_t kFewestGroups = 12;
constexpr size_t kMostLines = 16;
constexpr size_t kMostTimelines = 32;
constexpr size_t kMostNamed = 4;  // a finding of more ranks singles none out
constexpr size_t kMostSpans = 12'000;

std::string StateOf(const schema::RunStepRow& step) {
  if (step.tag != "train") return step.tag;
  if (step.is_partial == 1) return "partial";
  return step.is_warmup == 1 ? "warm-up" : "steady";
}

struct Reading {
  schema::Database& analysis;
  const ReportData& data;
  std::map<int64_t, size_t> group_of;  // by step
  ReportSeries series;
};

// The slowest ranks: the query that the page's numbers name as well.
Status ReadRanks(Reading& reading) {
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement rows,
      reading.analysis.Prepare("SELECT rank FROM (SELECT r.rank FROM rank AS r LEFT JOIN"
                               " rank_summary AS s USING (rank)"
                               " ORDER BY s.step_total_ns DESC, r.rank LIMIT ?1) ORDER BY rank"));
  TUTTI_RETURN_IF_ERROR(rows.Bind(1, kMostRanks));
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) break;
    TUTTI_ASSIGN_OR_RETURN(const auto rank, rows.Get<int64_t>(0));
    reading.series.ranks.emplace_back().rank = rank;
  }
  reading.series.ranks_left_out =
      static_cast<int64_t>(reading.data.ranks.size() - reading.series.ranks.size());
  return OkStatus();
}

void MakeGroups(Reading& reading) {
  ReportSeries& series = reading.series;
  series.groups = GroupSteps(reading.data.steps, series.ranks.size());
  std::map<std::string, std::vector<size_t>> of_state;
  for (size_t i = 0; i < series.groups.size(); ++i) {
    of_state[series.groups[i].state].push_back(i);
  }
  for (const schema::RunStepRow& step : reading.data.steps) {
    for (const size_t i : of_state[StateOf(step)]) {
      if (step.step < series.groups[i].first || step.step > series.groups[i].last) continue;
      reading.group_of[step.step] = i;
      break;
    }
  }
  for (RankSteps& rank : series.ranks) {
    for (auto* values :
         {&rank.steps, &rank.step_ns, &rank.longest_ns, &rank.comm_ns, &rank.exposed_ns}) {
      values->assign(series.groups.size(), 0);
    }
    for (auto& part : rank.parts) part.assign(series.groups.size(), 0);
  }
}

Status ReadCells(Reading& reading) {
  std::map<int64_t, RankSteps*> by_rank;
  for (RankSteps& rank : reading.series.ranks) by_rank[rank.rank] = &rank;
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::StepBreakdownRow>(
      reading.analysis, "ORDER BY step, rank", [&](const schema::StepBreakdownRow& row) {
        const auto rank = by_rank.find(row.rank);
        const auto group = reading.group_of.find(row.step);
        if (rank == by_rank.end() || group == reading.group_of.end()) return;
        RankSteps& cells = *rank->second;
        const size_t i = group->second;
        ++cells.steps[i];
        cells.step_ns[i] += row.step_ns;
        cells.longest_ns[i] = std::max(cells.longest_ns[i], row.step_ns);
        for (size_t part = 0; part < kStepParts.size(); ++part) {
          cells.parts[part][i] += row.*kStepParts[part].value;
        }
      }));
  return schema::ForEach<schema::StepOverlapRow>(
      reading.analysis, "ORDER BY step, rank", [&](const schema::StepOverlapRow& row) {
        const auto rank = by_rank.find(row.rank);
        const auto group = reading.group_of.find(row.step);
        if (rank == by_rank.end() || group == reading.group_of.end()) return;
        rank->second->comm_ns[group->second] += row.comm_ns;
        rank->second->exposed_ns[group->second] += row.exposed_ns;
      });
}

Status ReadSkew(Reading& reading) {
  SkewSeries& skew = reading.series.skew;
  const size_t groups = reading.series.groups.size();
  skew = {std::vector<int64_t>(groups), std::vector<int64_t>(groups), std::vector<int64_t>(groups)};
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement rows,
      reading.analysis.Prepare("SELECT step, skew_ns FROM collective"
                               " WHERE skew_ns IS NOT NULL AND step IS NOT NULL"));
  std::vector<std::vector<int64_t>> skews(groups);
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) break;
    TUTTI_ASSIGN_OR_RETURN(const auto step, rows.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(const auto skew_ns, rows.Get<int64_t>(1));
    const auto group = reading.group_of.find(step);
    if (group != reading.group_of.end()) skews[group->second].push_back(skew_ns);
  }
  for (size_t i = 0; i < groups; ++i) {
    if (skews[i].empty()) continue;
    std::sort(skews[i].begin(), skews[i].end());
    skew.count[i] = static_cast<int64_t>(skews[i].size());
    skew.p50_ns[i] = skews[i][(skews[i].size() - 1) / 2];
    skew.max_ns[i] = skews[i].back();
  }
  return OkStatus();
}

Status ReadLateness(Reading& reading) {
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement rows,
      reading.analysis.Prepare(
          "SELECT k.rank, count(*), sum(k.arrival_ns - (c.ready_ns - c.skew_ns))"
          " FROM collective_call AS k JOIN collective AS c ON c.id = k.collective_id"
          " WHERE c.skew_ns IS NOT NULL AND c.last_rank IS NOT NULL AND k.arrival_ns IS NOT NULL"
          " GROUP BY k.rank ORDER BY k.rank"));
  std::set<int64_t> shown;
  for (const RankSteps& rank : reading.series.ranks) shown.insert(rank.rank);
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return OkStatus();
    RankLateness lateness;
    TUTTI_ASSIGN_OR_RETURN(lateness.rank, rows.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(lateness.calls, rows.Get<int64_t>(1));
    TUTTI_ASSIGN_OR_RETURN(lateness.late_ns, rows.Get<int64_t>(2));
    if (shown.contains(lateness.rank)) reading.series.lateness.push_back(lateness);
  }
}

Status ReadMemory(Reading& reading) {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  for (size_t i = 0; i < reading.data.ranks.size(); ++i) {
    const schema::RankRow& rank = reading.data.ranks[i];
    begin_ns = i == 0 ? rank.begin_ns : std::min(begin_ns, rank.begin_ns);
    end_ns = i == 0 ? rank.end_ns : std::max(end_ns, rank.end_ns);
  }
  reading.series.run_ns = std::max<int64_t>(end_ns - begin_ns, 1);
  std::vector<schema::MemoryPeakRow> peaks = reading.data.memory;
  std::stable_sort(peaks.begin(), peaks.end(),
                   [](const auto& a, const auto& b) { return a.peak_bytes > b.peak_bytes; });
  reading.series.memory_left_out =
      static_cast<int64_t>(peaks.size() - std::min(peaks.size(), kMostLines));
  peaks.resize(std::min(peaks.size(), kMostLines));
  for (const schema::MemoryPeakRow& peak : peaks) {
    MemoryLine line{peak.rank, peak.device_type, peak.device_id, {}, {}, {}};
    TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::MemoryTimelineRow>(
        reading.analysis,
        "WHERE rank = ?1 AND device_type = ?2 AND device_id = ?3 ORDER BY begin_ns",
        [&](const schema::MemoryTimelineRow& row) {
          line.begin_ns.push_back(row.begin_ns - begin_ns);
          line.end_ns.push_back(row.end_ns - begin_ns);
          line.max_bytes.push_back(row.max_bytes);
        },
        peak.rank, peak.device_type, peak.device_id));
    if (!line.begin_ns.empty()) reading.series.memory.push_back(std::move(line));
  }
  return OkStatus();
}

// Those that a finding singles out first, then in order.
std::vector<int64_t> RanksToDraw(const ReportData& data) {
  std::vector<int64_t> ranks;
  const auto add = [&](int64_t rank) {
    if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) ranks.push_back(rank);
  };
  for (const ReportFinding& finding : data.findings) {
    if (finding.ranks.size() > kMostNamed) continue;
    for (const int64_t rank : finding.ranks) {
      if (ranks.size() < kMostTimelines / 2) add(rank);
    }
  }
  for (const schema::RankRow& rank : data.ranks) {
    if (ranks.size() < kMostTimelines) add(rank.rank);
  }
  return ranks;
}

Status ReadRankTimeline(Reading& reading, const schema::RunStepRow& step, int64_t rank,
                        size_t& spans) {
  RankTimeline timeline;
  timeline.rank = rank;
  bool is_there = false;
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::StepWindowRow>(
      reading.analysis, "WHERE step = ?1 AND rank = ?2",
      [&](const schema::StepWindowRow& row) {
        timeline.begin_ns = row.begin_ns - step.begin_ns;
        timeline.end_ns = row.end_ns - step.begin_ns;
        is_there = true;
      },
      step.step, rank));
  if (!is_there) return OkStatus();
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::StepOverlapRow>(
      reading.analysis, "WHERE step = ?1 AND rank = ?2",
      [&](const schema::StepOverlapRow& row) {
        timeline.comm_ns = row.comm_ns;
        timeline.exposed_ns = row.exposed_ns;
      },
      step.step, rank));
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::MedianStepSpanRow>(
      reading.analysis, "WHERE rank = ?1 ORDER BY kind, begin_ns",
      [&](const schema::MedianStepSpanRow& row) {
        timeline.spans[row.kind].push_back(
            {row.begin_ns - step.begin_ns, row.end_ns - step.begin_ns, row.busy_ns});
        ++spans;
      },
      rank));
  reading.series.timeline.ranks.push_back(std::move(timeline));
  return OkStatus();
}

Status ReadTimeline(Reading& reading) {
  TUTTI_ASSIGN_OR_RETURN(const auto number, reading.analysis.QueryOne<std::optional<int64_t>>(
                                                "SELECT max(step) FROM median_step_span"));
  const auto step = std::find_if(reading.data.steps.begin(), reading.data.steps.end(),
                                 [&](const auto& row) { return number && row.step == *number; });
  if (step == reading.data.steps.end()) return OkStatus();
  StepTimeline& timeline = reading.series.timeline;
  timeline.step = step->step;
  timeline.number = step->number;
  timeline.length_ns = std::max<int64_t>(step->end_ns - step->begin_ns, 1);
  size_t spans = 0;
  for (const int64_t rank : RanksToDraw(reading.data)) {
    if (spans >= kMostSpans) break;
    TUTTI_RETURN_IF_ERROR(ReadRankTimeline(reading, *step, rank, spans));
  }
  timeline.left_out = step->ranks - static_cast<int64_t>(timeline.ranks.size());
  return OkStatus();
}

}  // namespace

std::vector<StepGroup> GroupSteps(const std::vector<schema::RunStepRow>& steps, size_t ranks) {
  const size_t most =
      std::clamp(kMostCells / std::max<size_t>(ranks, 1), kFewestGroups, kMostGroups);
  const size_t size = (steps.size() + most - 1) / most;  // steps of a group, 0 without steps
  std::vector<StepGroup> groups;
  std::map<std::string, size_t> open;  // by state
  for (const schema::RunStepRow& step : steps) {
    const std::string state = StateOf(step);
    const auto known = open.find(state);
    if (known == open.end() || groups[known->second].count >= static_cast<int64_t>(size)) {
      open[state] = groups.size();
      groups.push_back({step.step, step.step, step.number, step.number, 0, state});
    }
    StepGroup& group = groups[open[state]];
    group.last = step.step;
    group.last_number = step.number;
    ++group.count;
  }
  return groups;
}

Result<ReportSeries> ReadReportSeries(const std::string& analysis_path, const ReportData& data) {
  TUTTI_ASSIGN_OR_RETURN(schema::Database analysis,
                         schema::OpenRunFile(analysis_path, {.quick_check = false}));
  Reading reading{analysis, data, {}, {}};
  TUTTI_RETURN_IF_ERROR(ReadRanks(reading));
  MakeGroups(reading);
  TUTTI_RETURN_IF_ERROR(ReadCells(reading));
  TUTTI_RETURN_IF_ERROR(ReadSkew(reading));
  TUTTI_RETURN_IF_ERROR(ReadLateness(reading));
  TUTTI_RETURN_IF_ERROR(ReadMemory(reading));
  TUTTI_RETURN_IF_ERROR(ReadTimeline(reading));
  return std::move(reading.series);
}

}  // namespace tutti::analyzer
