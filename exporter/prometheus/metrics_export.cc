#include "exporter/prometheus/metrics_export.h"

#include <optional>
#include <utility>
#include <variant>

#include "common/openmetrics.h"

namespace tutti::exporter::prometheus {
namespace {

// The query's last column is the value, the others are labels named as they are.
struct FamilySource {
  const char* name;
  const char* help;
  const char* sql;
};

constexpr FamilySource kFamilies[] = {
    {"tutti_ranks", "Ranks whose traces were analyzed.", "SELECT count(*) FROM rank"},
    {"tutti_ranks_expected", "Ranks that the job had.",
     "SELECT CAST(value AS INTEGER) FROM run_meta WHERE key = 'run.ranks_expected'"},
    {"tutti_events", "Events that were recorded.",
     "SELECT value FROM run_metric WHERE name = 'run.events'"},
    {"tutti_events_lost", "Events that are known to be missing.",
     "SELECT value FROM run_metric WHERE name = 'run.events_lost'"},
    {"tutti_steps", "Steps that the figures are of.",
     "SELECT value FROM run_metric WHERE name = 'step.count'"},
    {"tutti_step_seconds", "Length of a step on a rank.",
     "SELECT substr(name, 6, instr(name, '_ns') - 6) AS stat, value / 1e9 FROM run_metric"
     " WHERE name IN ('step.median_ns', 'step.mean_ns', 'step.p99_ns') ORDER BY 1"},
    {"tutti_step_period_seconds",
     "Time from the end of a step to that of the next, over all ranks.",
     "SELECT substr(name, 13, instr(name, '_ns') - 13) AS stat, value / 1e9 FROM run_metric"
     " WHERE name IN ('step.period_median_ns', 'step.period_p99_ns') ORDER BY 1"},
    {"tutti_step_part_seconds", "Mean time of a step and rank by part; the parts add up.",
     "SELECT part, total_ns / 1e9 / (SELECT sum(steps) FROM rank_summary) FROM part_summary"
     " WHERE (SELECT sum(steps) FROM rank_summary) > 0 ORDER BY ordinal"},
    {"tutti_overlap_ratio", "Share of communication that compute hides.",
     "SELECT value FROM run_metric WHERE name = 'overlap.frac'"},
    {"tutti_throughput_per_second", "Steps, samples and tokens of all ranks a second.",
     "SELECT substr(name, 12, instr(name, '_per') - 12) AS of, value FROM run_metric"
     " WHERE name GLOB 'throughput.*_per_s' ORDER BY 1"},
    {"tutti_rank_step_seconds", "Median step of a rank.",
     "SELECT rank, step_median_ns / 1e9 FROM rank_summary ORDER BY rank"},
    {"tutti_rank_late_ratio", "Share of its collectives that a rank is last in.",
     "SELECT rank, times_last * 1.0 / collectives FROM straggler WHERE collectives > 0"
     " ORDER BY rank"},
    {"tutti_memory_peak_bytes", "Most memory allocated at once.",
     "SELECT rank, device_type AS device, device_id, peak_bytes FROM memory_peak"
     " ORDER BY rank, device_type, device_id"},
    {"tutti_finding_cost_seconds", "What a step would save at most without the finding's cause.",
     "SELECT kind, sum(cost_ns) / 1e9 FROM finding WHERE cost_ns IS NOT NULL GROUP BY kind"
     " ORDER BY kind"},
};

std::string TextOf(const schema::NullableValue& value) {
  if (!value) return "";
  if (const auto* integer = std::get_if<int64_t>(&*value)) return std::to_string(*integer);
  const auto* text = std::get_if<std::string>(&*value);
  return text == nullptr ? "" : *text;
}

Status AddFamily(schema::Database& analysis, const FamilySource& source, const std::string& job,
                 MetricsText& metrics) {
  openmetrics::Family family(source.name, source.help);
  TUTTI_ASSIGN_OR_RETURN(schema::Statement rows, analysis.Prepare(source.sql));
  const int value_column = rows.column_count() - 1;
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) break;
    const schema::NullableValue value = rows.GetAny(value_column);
    if (!value) continue;
    std::string labels = job;
    for (int column = 0; column < value_column; ++column) {
      labels += "," + rows.column_name(column) + "=\"" +
                openmetrics::LabelText(TextOf(rows.GetAny(column))) + "\"";
    }
    if (const auto* integer = std::get_if<int64_t>(&*value)) {
      family.AddCount(labels, *integer);
    } else if (const auto* real = std::get_if<double>(&*value)) {
      family.Add(labels, *real);
    }
    ++metrics.samples;
  }
  metrics.text += family.Text();
  return OkStatus();
}

}  // namespace

Result<MetricsText> RenderMetrics(schema::Database& analysis) {
  TUTTI_ASSIGN_OR_RETURN(const auto workload,
                         analysis.QueryOne<std::optional<std::string>>(
                             "SELECT max(value) FROM run_meta WHERE key = 'run.workload'"));
  const std::string job = "job=\"" + openmetrics::LabelText(workload.value_or("")) + "\"";
  MetricsText metrics;
  for (const FamilySource& source : kFamilies) {
    TUTTI_RETURN_IF_ERROR(AddFamily(analysis, source, job, metrics));
  }
  metrics.text += openmetrics::kEnd;
  return metrics;
}

}  // namespace tutti::exporter::prometheus
