#include "analyzer/report/report_data.h"

#include <algorithm>
#include <charconv>

#include "schema/reader.h"
#include "schema/trace_file.h"

namespace tutti::analyzer {
namespace {

constexpr const char* kWorstFirst =
    "ORDER BY CASE severity WHEN 'error' THEN 0 WHEN 'data_loss' THEN 1 WHEN 'notice' THEN 2"
    " ELSE 3 END, id";

template <typename Row>
Status ReadInto(schema::Database& analysis, const char* suffix, std::vector<Row>& rows) {
  TUTTI_ASSIGN_OR_RETURN(rows, schema::ReadAll<Row>(analysis, suffix));
  return OkStatus();
}

Status ReadNamedValues(schema::Database& analysis, ReportData& data) {
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::RunMetaRow>(
      analysis, "", [&](const schema::RunMetaRow& row) { data.meta[row.key] = row.value; }));
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::RunMetricRow>(
      analysis, "", [&](const schema::RunMetricRow& row) { data.metrics[row.name] = row.value; }));
  return schema::ForEach<schema::RankPartSummaryRow>(
      analysis, "",
      [&](const schema::RankPartSummaryRow& row) { data.rank_parts[row.rank][row.part] = row; });
}

// The operators, or the kernels, copies and fills, that take most time.
Status ReadOperators(schema::Database& analysis, bool on_device, ReportData& data) {
  const std::string sql =
      "SELECT kind, name, sum(count), sum(total_ns), sum(self_ns), sum(in_steps_count),"
      " sum(in_steps_self_ns), max(p50_ns), max(p99_ns), max(max_ns), min(min_ns),"
      " coalesce(max(category), ''), max(uses_tensor_cores) FROM op_stats"
      " WHERE on_compute = 1 AND kind <> 'user' AND kind " +
      std::string(on_device ? "" : "NOT ") +
      "IN ('kernel', 'memcpy', 'memset') GROUP BY kind, name"
      " ORDER BY sum(in_steps_self_ns) DESC, sum(self_ns) DESC, name LIMIT 50";
  TUTTI_ASSIGN_OR_RETURN(schema::Statement statement, analysis.Prepare(sql));
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return OkStatus();
    ReportOperator op;
    TUTTI_ASSIGN_OR_RETURN(op.kind, statement.Get<std::string>(0));
    TUTTI_ASSIGN_OR_RETURN(op.name, statement.Get<std::string>(1));
    int64_t ReportOperator::*const values[] = {&ReportOperator::count,
                                               &ReportOperator::total_ns,
                                               &ReportOperator::self_ns,
                                               &ReportOperator::in_steps_count,
                                               &ReportOperator::in_steps_self_ns,
                                               &ReportOperator::p50_ns,
                                               &ReportOperator::p99_ns,
                                               &ReportOperator::max_ns,
                                               &ReportOperator::min_ns};
    int column = 2;
    for (const auto value : values) {
      TUTTI_ASSIGN_OR_RETURN(op.*value, statement.Get<int64_t>(column++));
    }
    TUTTI_ASSIGN_OR_RETURN(op.category, statement.Get<std::string>(column++));
    TUTTI_ASSIGN_OR_RETURN(const auto tensor, statement.Get<std::optional<int64_t>>(column));
    if (tensor) op.uses_tensor_cores = *tensor == 1;
    data.operators.push_back(std::move(op));
  }
}

Status ReadAllOperators(schema::Database& analysis, ReportData& data) {
  TUTTI_RETURN_IF_ERROR(ReadOperators(analysis, false, data));
  TUTTI_RETURN_IF_ERROR(ReadOperators(analysis, true, data));
  std::stable_sort(data.operators.begin(), data.operators.end(),
                   [](const ReportOperator& a, const ReportOperator& b) {
                     return a.in_steps_self_ns > b.in_steps_self_ns;
                   });
  return OkStatus();
}

// Over the same steps as the parts of a step.
Status ReadCategories(schema::Database& analysis, ReportData& data) {
  const std::string basis = data.Text("step.basis");
  const std::string steps = basis == "steady"     ? "WHERE s.is_steady = 1"
                            : basis == "complete" ? "WHERE s.is_partial = 0 AND s.tag = 'train'"
                                                  : "";
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement statement,
      analysis.Prepare("SELECT c.category, sum(c.count), sum(c.total_ns) FROM step_category AS c"
                       " JOIN run_step AS s USING (step) " +
                       steps + " GROUP BY c.category ORDER BY sum(c.total_ns) DESC, c.category"));
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return OkStatus();
    ReportCategory row;
    TUTTI_ASSIGN_OR_RETURN(row.category, statement.Get<std::string>(0));
    TUTTI_ASSIGN_OR_RETURN(row.count, statement.Get<int64_t>(1));
    TUTTI_ASSIGN_OR_RETURN(row.total_ns, statement.Get<int64_t>(2));
    data.categories.push_back(std::move(row));
  }
}

Status ReadFindings(schema::Database& analysis, ReportData& data) {
  TUTTI_ASSIGN_OR_RETURN(const auto rows,
                         schema::ReadAll<schema::FindingRow>(analysis, "ORDER BY id"));
  std::map<int64_t, size_t> place;
  for (const schema::FindingRow& row : rows) {
    place[row.id] = data.findings.size();
    data.findings.push_back({row, {}, {}});
  }
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::FindingRankRow>(
      analysis, "ORDER BY finding_id, rank", [&](const schema::FindingRankRow& row) {
        const auto finding = place.find(row.finding_id);
        if (finding != place.end()) data.findings[finding->second].ranks.push_back(row.rank);
      }));
  return schema::ForEach<schema::FindingEvidenceRow>(
      analysis, "ORDER BY finding_id, ordinal", [&](const schema::FindingEvidenceRow& row) {
        const auto finding = place.find(row.finding_id);
        if (finding != place.end()) data.findings[finding->second].evidence.push_back(row);
      });
}

}  // namespace

std::string ReportData::Failures() const {
  std::string text;
  for (const schema::DataIssueRow& issue : issues) {
    const bool is_failure = issue.name == "ranks_failed" || issue.name == "run_killed";
    if (!is_failure || issue.origin != "analysis") continue;
    text += (text.empty() ? "" : "; ") + issue.detail;
  }
  return text;
}

bool ReportData::IsToldAsFailure(const schema::DataIssueRow& issue) {
  return issue.name == "run_killed" || issue.name == "recording_killed";
}

bool ReportData::IsCutOff() const {
  return std::any_of(issues.begin(), issues.end(), [](const auto& issue) {
    const bool is_cut_off = issue.name == "ranks_unfinished" || issue.name == "run_killed";
    return is_cut_off && issue.origin == "analysis";
  });
}

bool ReportData::HasSteps() const { return !steps.empty() || Integer("step.count").has_value(); }

int64_t ReportData::Windows() const {
  int64_t windows = 0;
  for (const schema::RankSummaryRow& row : rank_summaries) windows += row.steps;
  return windows;
}

std::optional<int64_t> ReportData::Integer(const std::string& name) const {
  const auto found = metrics.find(name);
  if (found == metrics.end() || !found->second) return std::nullopt;
  const auto* value = std::get_if<int64_t>(&*found->second);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::optional<double> ReportData::Real(const std::string& name) const {
  const auto found = metrics.find(name);
  if (found == metrics.end() || !found->second) return std::nullopt;
  const auto* value = std::get_if<double>(&*found->second);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::string ReportData::Text(const std::string& name) const {
  const auto found = metrics.find(name);
  if (found == metrics.end() || !found->second) return "";
  const auto* value = std::get_if<std::string>(&*found->second);
  return value == nullptr ? "" : *value;
}

std::string ReportData::Meta(const std::string& key) const {
  const auto found = meta.find(key);
  return found == meta.end() ? "" : found->second;
}

int64_t ReportData::MetaInteger(const std::string& key) const {
  const std::string text = Meta(key);
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int64_t ReportData::PassedOnNs(int64_t rank) const {
  const auto found = passed_on_ns.find(rank);
  const int64_t counted = Integer("step.count").value_or(0);
  return found == passed_on_ns.end() || counted == 0 ? 0 : found->second / counted;
}

static Status ReadPassedOn(schema::Database& analysis, ReportData& data) {
  TUTTI_ASSIGN_OR_RETURN(
      schema::Statement statement,
      analysis.Prepare("SELECT w.cause_rank, sum(w.wait_ns) FROM wait_cause AS w"
                       " JOIN run_step AS s ON s.step = w.step WHERE w.cause_rank <> w.late_rank"
                       " AND (s.is_steady = 1 OR NOT EXISTS (SELECT 1 FROM run_step WHERE"
                       " is_steady = 1)) GROUP BY w.cause_rank"));
  for (;;) {
    TUTTI_ASSIGN_OR_RETURN(const bool found, statement.Step());
    if (!found) return OkStatus();
    TUTTI_ASSIGN_OR_RETURN(const int64_t rank, statement.Get<int64_t>(0));
    TUTTI_ASSIGN_OR_RETURN(data.passed_on_ns[rank], statement.Get<int64_t>(1));
  }
}

Result<ReportData> ReadReportData(const std::string& analysis_path) {
  TUTTI_ASSIGN_OR_RETURN(schema::Database analysis, schema::OpenRunFile(analysis_path));
  ReportData data;
  TUTTI_RETURN_IF_ERROR(ReadNamedValues(analysis, data));
  TUTTI_RETURN_IF_ERROR(ReadInto(analysis, "ORDER BY id", data.files));
  TUTTI_RETURN_IF_ERROR(ReadInto(analysis, "ORDER BY rank", data.ranks));
  TUTTI_RETURN_IF_ERROR(ReadInto(analysis, kWorstFirst, data.issues));
  TUTTI_RETURN_IF_ERROR(ReadInto(analysis, "ORDER BY step", data.steps));
  TUTTI_RETURN_IF_ERROR(ReadInto(analysis, "ORDER BY ordinal", data.parts));
  TUTTI_RETURN_IF_ERROR(ReadInto(analysis, "ORDER BY rank", data.rank_summaries));
  TUTTI_RETURN_IF_ERROR(ReadInto(analysis, "ORDER BY rank", data.stragglers));
  TUTTI_RETURN_IF_ERROR(ReadPassedOn(analysis, data));
  TUTTI_RETURN_IF_ERROR(ReadInto(analysis, "ORDER BY id", data.communicators));
  TUTTI_RETURN_IF_ERROR(
      ReadInto(analysis, "ORDER BY transfer_ns + wait_ns DESC, communicator_id, op, dtype, bytes",
               data.collectives));
  TUTTI_RETURN_IF_ERROR(ReadInto(analysis, "ORDER BY rank, device_type, device_id", data.memory));
  TUTTI_RETURN_IF_ERROR(
      ReadInto(analysis, "ORDER BY rank, device_type, device_id, ordinal", data.memory_holders));
  TUTTI_RETURN_IF_ERROR(ReadInto(analysis, "ORDER BY rank, device_id", data.memory_states));
  TUTTI_RETURN_IF_ERROR(ReadInto(analysis, "ORDER BY rank, name", data.loaders));
  TUTTI_RETURN_IF_ERROR(ReadAllOperators(analysis, data));
  TUTTI_RETURN_IF_ERROR(ReadInto(analysis, "ORDER BY rank, device_id", data.devices));
  TUTTI_RETURN_IF_ERROR(ReadCategories(analysis, data));
  TUTTI_RETURN_IF_ERROR(
      ReadInto(analysis, "ORDER BY rank, device_id, direction, source, destination", data.copies));
  TUTTI_RETURN_IF_ERROR(ReadInto(analysis, "ORDER BY rank, name", data.launches));
  TUTTI_RETURN_IF_ERROR(ReadFindings(analysis, data));
  return data;
}

}  // namespace tutti::analyzer
