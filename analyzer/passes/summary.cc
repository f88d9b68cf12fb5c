// The figures that reports print, over the steps that count: of the run, of each part,
// each rank and each kind of collective.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "analyzer/input/limits.h"
#include "analyzer/input/step_parts.h"
#include "analyzer/input/steps_that_count.h"
#include "analyzer/metrics/percentile.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

using Values = std::vector<int64_t>;

int64_t SumOf(const Values& values) {
  int64_t sum = 0;
  for (const int64_t value : values) sum = SaturatingAdd(sum, value);
  return sum;
}

std::optional<int64_t> PercentileOf(Values values, int permille) {
  if (values.empty()) return std::nullopt;
  return LowerNearestRank(values, permille);
}

// Rows of the steps that count, loaded once.
struct Facts {
  StepsThatCount counted;
  std::vector<schema::RankRow> ranks;
  std::vector<schema::StepBreakdownRow> breakdown;
  std::vector<schema::StepOverlapRow> overlap;
  std::vector<schema::StepBatchRow> batches;
  std::vector<schema::StepWindowRow> windows;
};

template <typename Row>
Status ReadCounted(RunContext& context, const std::map<int64_t, size_t>& steps,
                   std::vector<Row>& rows) {
  TUTTI_ASSIGN_OR_RETURN(rows, context.Read<Row>("ORDER BY step, rank"));
  std::erase_if(rows, [&](const Row& row) { return !steps.contains(row.step); });
  return OkStatus();
}

Result<Facts> ReadFacts(RunContext& context) {
  Facts facts;
  TUTTI_ASSIGN_OR_RETURN(facts.counted, ReadStepsThatCount(context));
  TUTTI_ASSIGN_OR_RETURN(facts.ranks, context.Ranks());
  const std::map<int64_t, size_t> steps = facts.counted.Places();
  TUTTI_RETURN_IF_ERROR(ReadCounted(context, steps, facts.breakdown));
  TUTTI_RETURN_IF_ERROR(ReadCounted(context, steps, facts.overlap));
  TUTTI_RETURN_IF_ERROR(ReadCounted(context, steps, facts.batches));
  TUTTI_RETURN_IF_ERROR(ReadCounted(context, steps, facts.windows));
  return facts;
}

// Named values on their way to run_metric.
class Metrics {
 public:
  void Set(const char* name, std::optional<int64_t> value) {
    schema::RunMetricRow row{name, {}};
    if (value) row.value = schema::Value(*value);
    rows_.push_back(std::move(row));
  }
  void SetReal(const char* name, std::optional<double> value) {
    schema::RunMetricRow row{name, {}};
    if (value) row.value = schema::Value(*value);
    rows_.push_back(std::move(row));
  }
  void SetText(const char* name, const std::string& value) {
    rows_.push_back({name, schema::Value(value)});
  }
  const std::vector<schema::RunMetricRow>& rows() const { return rows_; }

 private:
  std::vector<schema::RunMetricRow> rows_;
};

void AddStepMetrics(const Facts& facts, Metrics& metrics) {
  Values step_ns;
  Values between_ns;
  Values period_ns;
  for (const schema::StepBreakdownRow& row : facts.breakdown) step_ns.push_back(row.step_ns);
  for (const schema::StepWindowRow& row : facts.windows) {
    if (row.between_steps_ns) between_ns.push_back(*row.between_steps_ns);
  }
  for (const schema::RunStepRow& row : facts.counted.steps) {
    if (row.step_period_ns) period_ns.push_back(*row.step_period_ns);
  }
  const int64_t total_ns = SumOf(step_ns);
  metrics.SetText("step.basis", facts.counted.basis);
  metrics.Set("step.count", static_cast<int64_t>(facts.counted.steps.size()));
  metrics.Set("step.total_ns", total_ns);
  metrics.Set("step.mean_ns", step_ns.empty() ? std::optional<int64_t>()
                                              : total_ns / static_cast<int64_t>(step_ns.size()));
  metrics.Set("step.median_ns", PercentileOf(step_ns, 500));
  metrics.Set("step.p99_ns", PercentileOf(step_ns, 990));
  metrics.Set("step.period_median_ns", PercentileOf(period_ns, 500));
  metrics.Set("step.period_p99_ns", PercentileOf(period_ns, 990));
  metrics.Set("step.between_median_ns", PercentileOf(between_ns, 500));
}

void AddOverlapMetrics(const Facts& facts, Metrics& metrics) {
  int64_t comm_ns = 0;
  int64_t exposed_ns = 0;
  for (const schema::StepOverlapRow& row : facts.overlap) {
    comm_ns += row.comm_ns;
    exposed_ns += row.exposed_ns;
  }
  metrics.Set("overlap.comm_ns", comm_ns);
  metrics.Set("overlap.exposed_ns", exposed_ns);
  metrics.SetReal("overlap.frac", comm_ns == 0 ? std::optional<double>()
                                               : static_cast<double>(comm_ns - exposed_ns) /
                                                     static_cast<double>(comm_ns));
}

// Per second of the job: sums over ranks and steps by the time from one step's end to
// the next one's.
void AddThroughput(const Facts& facts, Metrics& metrics) {
  std::optional<int64_t> samples;
  std::optional<int64_t> tokens;
  std::set<int64_t> with_batch;
  for (const schema::StepBatchRow& row : facts.batches) {
    if (row.samples) samples = SaturatingAdd(samples.value_or(0), *row.samples);
    if (row.tokens) tokens = SaturatingAdd(tokens.value_or(0), *row.tokens);
    with_batch.insert(row.step);
  }
  int64_t time_ns = 0;
  int64_t all_time_ns = 0;
  for (const schema::RunStepRow& step : facts.counted.steps) {
    const int64_t period_ns = step.step_period_ns.value_or(step.end_ns - step.begin_ns);
    all_time_ns += period_ns;
    if (with_batch.contains(step.step)) time_ns += period_ns;
  }
  if (all_time_ns > 0) {
    metrics.SetReal("throughput.steps_per_s", static_cast<double>(facts.counted.steps.size()) *
                                                  1e9 / static_cast<double>(all_time_ns));
  }
  const auto per_second = [&](const std::optional<int64_t>& count) -> std::optional<double> {
    if (!count || time_ns <= 0) return std::nullopt;
    return static_cast<double>(*count) * 1e9 / static_cast<double>(time_ns);
  };
  metrics.Set("throughput.samples", samples);
  metrics.Set("throughput.tokens", tokens);
  metrics.SetReal("throughput.samples_per_s", per_second(samples));
  metrics.SetReal("throughput.tokens_per_s", per_second(tokens));
}

void AddRunMetrics(const Facts& facts, Metrics& metrics) {
  int64_t events = 0;
  int64_t lost = 0;
  int64_t begin_ns = facts.ranks.front().begin_ns;
  int64_t end_ns = facts.ranks.front().end_ns;
  std::optional<int64_t> clock_error_ns = 0;
  for (const schema::RankRow& rank : facts.ranks) {
    events += rank.events;
    lost = SaturatingAdd(lost, rank.events_lost);
    begin_ns = std::min(begin_ns, rank.begin_ns);
    end_ns = std::max(end_ns, rank.end_ns);
    clock_error_ns = clock_error_ns && rank.clock_error_ns
                         ? std::optional(std::max(*clock_error_ns, *rank.clock_error_ns))
                         : std::nullopt;
  }
  metrics.Set("run.events", events);
  metrics.Set("run.events_lost", lost);
  metrics.Set("run.wall_ns", end_ns - begin_ns);
  metrics.Set("run.clock_error_ns", clock_error_ns);
}

std::vector<schema::PartSummaryRow> PartRows(const Facts& facts) {
  std::vector<schema::PartSummaryRow> rows;
  for (const StepPart& part : kStepParts) {
    Values values;
    for (const schema::StepBreakdownRow& row : facts.breakdown) values.push_back(row.*part.value);
    schema::PartSummaryRow row;
    row.ordinal = static_cast<int64_t>(rows.size());
    row.part = std::string(part.name);
    row.total_ns = SumOf(values);
    row.median_ns = PercentileOf(std::move(values), 500);
    rows.push_back(std::move(row));
  }
  return rows;
}

Status WriteRanks(RunContext& context, const Facts& facts) {
  std::vector<schema::RankSummaryRow> summaries;
  std::vector<schema::RankPartSummaryRow> parts;
  for (const schema::RankRow& rank : facts.ranks) {
    schema::RankSummaryRow summary;
    summary.rank = rank.rank;
    Values step_ns;
    std::array<Values, kStepParts.size()> part_ns;
    for (const schema::StepBreakdownRow& row : facts.breakdown) {
      if (row.rank != rank.rank) continue;
      step_ns.push_back(row.step_ns);
      for (size_t i = 0; i < kStepParts.size(); ++i) part_ns[i].push_back(row.*kStepParts[i].value);
    }
    summary.steps = static_cast<int64_t>(step_ns.size());
    summary.step_total_ns = SumOf(step_ns);
    summary.step_median_ns = PercentileOf(step_ns, 500);
    summary.step_p99_ns = PercentileOf(step_ns, 990);
    for (const schema::StepOverlapRow& row : facts.overlap) {
      if (row.rank != rank.rank) continue;
      summary.comm_ns += row.comm_ns;
      summary.exposed_ns += row.exposed_ns;
    }
    for (const schema::StepBatchRow& row : facts.batches) {
      if (row.rank != rank.rank) continue;
      if (row.samples) summary.samples = summary.samples.value_or(0) + *row.samples;
      if (row.tokens) summary.tokens = summary.tokens.value_or(0) + *row.tokens;
    }
    summaries.push_back(summary);
    for (size_t i = 0; i < kStepParts.size() && !step_ns.empty(); ++i) {
      parts.push_back({rank.rank, std::string(kStepParts[i].name), SumOf(part_ns[i]),
                       *PercentileOf(part_ns[i], 500)});
    }
  }
  TUTTI_RETURN_IF_ERROR(context.Write(summaries));
  return context.Write(parts);
}

using CollectiveKey = std::tuple<int64_t, std::string, std::string, int64_t>;

struct CollectiveTally {
  schema::CollectiveSummaryRow row;
  Values wait_ns;
  Values skew_ns;
  Values transfer_ns;
  Values duration_ns;
  std::vector<double> busbw;
};

// Without a size.
CollectiveKey KindOf(const schema::CollectiveRow& row) {
  return {row.communicator_id.value_or(-1), row.op, row.dtype.value_or(""), 0};
}

// Uneven exchanges (an all_to_all of experts or embeddings) have other sizes in every step: a row
// for each would say nothing.
bool IsUneven(size_t sizes, int64_t calls) {
  constexpr size_t kMostSizes = 8;  // that are each shown, however seldom
  constexpr int64_t kOften = 4;
  return sizes > kMostSizes && calls < kOften * static_cast<int64_t>(sizes);
}

// Size -> the size that it is summed up under: itself, or the mean of the calls of its power of
// two.
using SizeClasses = std::map<int64_t, int64_t>;

SizeClasses ClassesOf(const std::map<int64_t, int64_t>& calls_of_size, int64_t calls) {
  SizeClasses classes;
  for (const auto& [bytes, count] : calls_of_size) classes[bytes] = bytes;
  if (!IsUneven(calls_of_size.size(), calls)) return classes;
  struct Mean {
    double bytes = 0;
    int64_t count = 0;
  };
  std::map<int, Mean> means;
  const auto power_of = [](int64_t bytes) {
    return static_cast<int>(std::bit_width(static_cast<uint64_t>(bytes)));
  };
  for (const auto& [bytes, count] : calls_of_size) {
    if (bytes <= 0) continue;
    Mean& mean = means[power_of(bytes)];
    mean.bytes += static_cast<double>(bytes) * static_cast<double>(count);
    mean.count += count;
  }
  for (auto& [bytes, target] : classes) {
    if (bytes <= 0) continue;
    const Mean& mean = means[power_of(bytes)];
    target = static_cast<int64_t>(mean.bytes / static_cast<double>(mean.count));
  }
  return classes;
}

std::map<CollectiveKey, SizeClasses> SizeClassesOf(
    const std::vector<const schema::CollectiveRow*>& collectives) {
  std::map<CollectiveKey, std::map<int64_t, int64_t>> calls_of_sizes;
  std::map<CollectiveKey, int64_t> calls;
  for (const schema::CollectiveRow* row : collectives) {
    ++calls_of_sizes[KindOf(*row)][row->bytes.value_or(-1)];
    ++calls[KindOf(*row)];
  }
  std::map<CollectiveKey, SizeClasses> classes;
  for (const auto& [kind, sizes] : calls_of_sizes) classes[kind] = ClassesOf(sizes, calls[kind]);
  return classes;
}

void AddTo(CollectiveTally& tally, const schema::CollectiveRow& row) {
  ++tally.row.count;
  tally.row.complete += row.state == "complete" ? 1 : 0;
  if (row.skew_ns) tally.skew_ns.push_back(*row.skew_ns);
  if (row.transfer_ns) tally.transfer_ns.push_back(*row.transfer_ns);
  if (row.duration_ns) tally.duration_ns.push_back(*row.duration_ns);
  if (!row.busbw_gb_per_s) return;
  tally.busbw.push_back(*row.busbw_gb_per_s);
  if (row.is_bw_raw == 1) tally.row.is_bw_raw = 1;
}

void Finish(CollectiveTally& tally) {
  schema::CollectiveSummaryRow& row = tally.row;
  row.wait_ns = SumOf(tally.wait_ns);
  row.transfer_ns = SumOf(tally.transfer_ns);
  row.p50_wait_ns = PercentileOf(tally.wait_ns, 500);
  row.p50_skew_ns = PercentileOf(tally.skew_ns, 500);
  row.p50_transfer_ns = PercentileOf(tally.transfer_ns, 500);
  row.p99_transfer_ns = PercentileOf(tally.transfer_ns, 990);
  row.p50_duration_ns = PercentileOf(tally.duration_ns, 500);
  if (!tally.busbw.empty()) row.p50_busbw_gb_per_s = LowerNearestRank(tally.busbw, 500);
}

Status WriteCollectives(RunContext& context, const Facts& facts) {
  const std::map<int64_t, size_t> steps = facts.counted.Places();
  TUTTI_ASSIGN_OR_RETURN(const auto collectives,
                         context.Read<schema::CollectiveRow>("ORDER BY id"));
  std::vector<const schema::CollectiveRow*> counted;
  for (const schema::CollectiveRow& row : collectives) {
    if (row.step && steps.contains(*row.step)) counted.push_back(&row);
  }
  const std::map<CollectiveKey, SizeClasses> classes = SizeClassesOf(counted);
  std::map<CollectiveKey, CollectiveTally> tallies;
  std::map<int64_t, CollectiveTally*> tally_of;  // by collective
  for (const schema::CollectiveRow* row : counted) {
    CollectiveKey key = KindOf(*row);
    std::get<3>(key) = classes.at(key).at(row->bytes.value_or(-1));
    CollectiveTally& tally = tallies[key];
    AddTo(tally, *row);
    tally_of[row->id] = &tally;
  }
  TUTTI_ASSIGN_OR_RETURN(const auto calls, context.Read<schema::CollectiveCallRow>(""));
  for (const schema::CollectiveCallRow& call : calls) {
    const auto tally = tally_of.find(call.collective_id);
    if (tally != tally_of.end() && call.wait_ns) tally->second->wait_ns.push_back(*call.wait_ns);
  }
  std::vector<schema::CollectiveSummaryRow> rows;
  for (auto& [key, tally] : tallies) {
    Finish(tally);
    std::tie(tally.row.communicator_id, tally.row.op, tally.row.dtype, tally.row.bytes) = key;
    rows.push_back(tally.row);
  }
  return context.Write(rows);
}

// Steps that the ranges of issues touch: known only now.
Status SetStepsOfIssues(RunContext& context) {
  return context.derived().Execute(
      "UPDATE data_issue SET"
      " first_step = (SELECT min(w.step) FROM step_window AS w WHERE w.rank = data_issue.rank"
      "   AND w.begin_ns < data_issue.end_ns AND w.end_ns > data_issue.begin_ns),"
      " last_step = (SELECT max(w.step) FROM step_window AS w WHERE w.rank = data_issue.rank"
      "   AND w.begin_ns < data_issue.end_ns AND w.end_ns > data_issue.begin_ns)"
      " WHERE begin_ns IS NOT NULL AND end_ns IS NOT NULL AND rank IS NOT NULL");
}

Status WriteBadRows(RunContext& context) {
  for (const auto& [rank, count] : context.BadRows()) {
    if (count == 0) continue;
    schema::DataIssueRow issue;
    issue.severity = "data_loss";
    issue.name = "impossible_times";
    issue.origin = "analysis";
    issue.source = "analyzer.input";
    issue.rank = rank;
    issue.count = count;
    issue.detail = std::to_string(count) +
                   " rows end before they begin or lie beyond any clock; "
                   "they are left out";
    TUTTI_RETURN_IF_ERROR(context.AddIssue(issue));
  }
  return OkStatus();
}

Status WriteBadValues(RunContext& context) {
  for (const auto& [rank, count] : context.BadValues()) {
    if (count == 0) continue;
    schema::DataIssueRow issue;
    issue.severity = "data_loss";
    issue.name = "impossible_values";
    issue.origin = "analysis";
    issue.source = "analyzer.input";
    issue.rank = rank;
    issue.count = count;
    issue.detail = "sizes, ranks or counts that are negative or beyond anything that can be: " +
                   std::to_string(count) + "; they are taken as unknown";
    issue.advice = "the file is damaged or was changed: record again";
    TUTTI_RETURN_IF_ERROR(context.AddIssue(issue));
  }
  return OkStatus();
}

Status Run(RunContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const Facts facts, ReadFacts(context));
  Metrics metrics;
  AddRunMetrics(facts, metrics);
  AddStepMetrics(facts, metrics);
  AddOverlapMetrics(facts, metrics);
  AddThroughput(facts, metrics);
  TUTTI_RETURN_IF_ERROR(context.Write(metrics.rows()));
  TUTTI_RETURN_IF_ERROR(context.Write(PartRows(facts)));
  TUTTI_RETURN_IF_ERROR(WriteRanks(context, facts));
  TUTTI_RETURN_IF_ERROR(WriteCollectives(context, facts));
  TUTTI_RETURN_IF_ERROR(WriteBadRows(context));
  TUTTI_RETURN_IF_ERROR(WriteBadValues(context));
  return SetStepsOfIssues(context);
}

constexpr PassCheck kChecks[] = {
    {"the parts add up to the steps",
     "SELECT coalesce(sum(total_ns), 0) <> (SELECT value FROM run_metric WHERE name = "
     "'step.total_ns')"
     " FROM part_summary"},
    {"the parts of a rank add up to its steps",
     "SELECT count(*) FROM rank_summary AS r WHERE r.step_total_ns <>"
     " (SELECT coalesce(sum(p.total_ns), 0) FROM rank_part_summary AS p WHERE p.rank = r.rank)"},
};

}  // namespace

extern const Pass kSummaryPass;
const Pass kSummaryPass{"summary", Run, kChecks};

}  // namespace tutti::analyzer
