// Everything that reports print, read from the derived tables and nothing else: any
// number in a report can be had with sqlite3.
// Value type.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "schema/derived_rows.h"

namespace tutti::analyzer {

struct ReportFinding {
  schema::FindingRow row;
  std::vector<int64_t> ranks;
  std::vector<schema::FindingEvidenceRow> evidence;
};

// An operator or kernel over all ranks, on compute lanes, in the steps that count.
struct ReportOperator {
  std::string kind;
  std::string name;
  int64_t count = 0;             // whole trace
  int64_t total_ns = 0;          // the same
  int64_t self_ns = 0;           // the same
  int64_t in_steps_count = 0;    // steps that count only
  int64_t in_steps_self_ns = 0;  // the same
  int64_t p50_ns = 0;            // highest of the ranks' medians
  int64_t p99_ns = 0;            // the same
  int64_t max_ns = 0;
  int64_t min_ns = 0;    // lowest of the ranks'
  std::string category;  // of kernels, copies and fills; "" others
  std::optional<bool> uses_tensor_cores;

  bool OnDevice() const { return kind == "kernel" || kind == "memcpy" || kind == "memset"; }
};

// Kernels, copies and fills that do the same, over all ranks, in the steps that count.
struct ReportCategory {
  std::string category;
  int64_t count = 0;
  int64_t total_ns = 0;
};

struct ReportData {
  std::map<std::string, std::string> meta;               // run_meta
  std::map<std::string, schema::NullableValue> metrics;  // run_metric
  std::vector<schema::InputFileRow> files;
  std::vector<schema::RankRow> ranks;
  std::vector<schema::DataIssueRow> issues;  // worst first
  std::vector<schema::RunStepRow> steps;
  std::vector<schema::PartSummaryRow> parts;  // in order of precedence
  std::vector<schema::RankSummaryRow> rank_summaries;
  std::map<int64_t, std::map<std::string, schema::RankPartSummaryRow>> rank_parts;
  std::vector<schema::StragglerRow> stragglers;
  std::vector<schema::RunCommunicatorRow> communicators;
  std::vector<schema::CollectiveSummaryRow> collectives;  // most transfer first
  std::vector<schema::MemoryPeakRow> memory;
  std::vector<schema::MemoryHolderRow> memory_holders;  // most bytes first for each allocator
  std::vector<schema::MemoryStateRow> memory_states;
  std::vector<schema::LoaderRow> loaders;
  std::vector<ReportOperator> operators;  // most self time in steady steps first
  std::vector<schema::DeviceSummaryRow> devices;
  std::vector<ReportCategory> categories;  // most time first
  std::vector<schema::CopyStatsRow> copies;
  std::vector<schema::LaunchStatsRow> launches;
  std::vector<ReportFinding> findings;
  std::map<int64_t, int64_t> passed_on_ns;  // by rank: see PassedOnNs; over the steps that count

  // How ranks failed, "rank 1 exited with 1", or that the recorder was killed; empty if none did.
  std::string Failures() const;
  // Whether Failures() says it already.
  static bool IsToldAsFailure(const schema::DataIssueRow& issue);
  // Whether a rank's end was not seen: what came after its last event is not known.
  bool IsCutOff() const;

  bool HasSteps() const;
  // Windows of steps that the totals are made of: one per step and rank.
  int64_t Windows() const;
  // Mean per step of what ranks wait in all for others that are late because of `rank`.
  int64_t PassedOnNs(int64_t rank) const;

  // Values of run_metric; nothing where it is NULL or missing.
  std::optional<int64_t> Integer(const std::string& name) const;
  std::optional<double> Real(const std::string& name) const;
  std::string Text(const std::string& name) const;
  std::string Meta(const std::string& key) const;
  int64_t MetaInteger(const std::string& key) const;
};

Result<ReportData> ReadReportData(const std::string& analysis_path);

}  // namespace tutti::analyzer
