#include "exporter/exporter.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "common/output_file.h"
#include "exporter/chrome/chrome_export.h"
#include "exporter/csv/csv_export.h"
#include "exporter/perfetto/perfetto_export.h"
#include "exporter/prometheus/metrics_export.h"
#include "exporter/run_analysis.h"
#include "exporter/tensorboard/scalars_export.h"
#include "schema/run_files.h"
#include "schema/trace_file.h"

namespace tutti::exporter {
namespace {

// The traces of a run, or the one that `path` is.
Result<std::vector<schema::RankFile>> TracesOf(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) {
    return std::vector<schema::RankFile>{
        schema::RankFileFromName(path).value_or(schema::RankFile{path, std::nullopt, 0, false})};
  }
  TUTTI_ASSIGN_OR_RETURN(schema::RunFileSet files, schema::FindRunFiles(path));
  return std::move(files.ranks);
}

// "rank-00007", with "-attempt-1" where it is a later one.
std::string StemOf(const schema::RankFile& file) {
  std::string stem = std::filesystem::path(file.path).filename().string();
  stem.resize(std::min(stem.find('.'), stem.size()));
  if (file.attempt > 0) stem += "-attempt-" + std::to_string(file.attempt);
  return stem;
}

void AddMessages(const schema::RankFile& file, std::vector<std::string> messages,
                 ExportReport& report) {
  for (std::string& message : messages) {
    report.messages.push_back(StemOf(file) + ": " + std::move(message));
  }
}

Status ExportChrome(const schema::RankFile& file, const std::string& path, bool replace,
                    ExportReport& report) {
  TUTTI_ASSIGN_OR_RETURN(schema::Database trace, schema::OpenRankFile(file.path));
  TUTTI_ASSIGN_OR_RETURN(OutputFile output, OutputFile::Create(path, replace));
  TUTTI_ASSIGN_OR_RETURN(chrome::ChromeSummary summary, chrome::WriteChromeTrace(trace, output));
  TUTTI_RETURN_IF_ERROR(output.Finish());
  report.files.push_back({path, summary.events});
  AddMessages(file, std::move(summary.messages), report);
  return OkStatus();
}

Status ExportCsv(const schema::RankFile& file, const std::string& folder, bool replace,
                 ExportReport& report) {
  TUTTI_ASSIGN_OR_RETURN(schema::Database trace, schema::OpenRankFile(file.path));
  TUTTI_RETURN_IF_ERROR(MakeFolder(folder));
  TUTTI_ASSIGN_OR_RETURN(auto files, csv::WriteCsvTables(trace, folder, replace));
  for (csv::CsvFile& table : files) report.files.push_back({std::move(table.path), table.rows});
  return OkStatus();
}

// All traces as one file.
Status ExportPerfetto(const std::vector<schema::RankFile>& traces, const ExportOptions& options,
                      ExportReport& report) {
  std::optional<RunAnalysis> analysis;
  if (!options.analysis.empty()) {
    TUTTI_ASSIGN_OR_RETURN(analysis, RunAnalysis::Open(options.analysis));
  }
  TUTTI_ASSIGN_OR_RETURN(OutputFile output, OutputFile::Create(options.output, options.force));
  perfetto::PerfettoExport perfetto(output);
  for (const schema::RankFile& file : traces) {
    TUTTI_ASSIGN_OR_RETURN(schema::Database trace, schema::OpenRankFile(file.path));
    perfetto::RankContext context;
    if (analysis) {
      context.analysis = &analysis->database();
      if (const auto rank = analysis->Find(file.path)) {
        context.rank = rank->rank;
        context.offset_ns = rank->clock_offset_ns;
      }
    }
    TUTTI_ASSIGN_OR_RETURN(auto messages, perfetto.AddRank(trace, context));
    AddMessages(file, std::move(messages), report);
  }
  TUTTI_RETURN_IF_ERROR(output.Finish());
  report.files.push_back({options.output, perfetto.events()});
  return OkStatus();
}

using WriteTrace = Status (*)(const schema::RankFile& file, const std::string& path, bool replace,
                              ExportReport& report);

// One file, or one folder of files, for each trace; |suffix| is that of a file in a folder.
Status ExportEach(const std::vector<schema::RankFile>& traces, const ExportOptions& options,
                  WriteTrace write, const std::string& suffix, ExportReport& report) {
  if (traces.size() == 1) return write(traces[0], options.output, options.force, report);
  TUTTI_RETURN_IF_ERROR(MakeFolder(options.output));
  for (const schema::RankFile& file : traces) {
    TUTTI_RETURN_IF_ERROR(
        write(file, options.output + "/" + StemOf(file) + suffix, options.force, report));
  }
  return OkStatus();
}

Status ExportTensorBoard(const ExportOptions& options, ExportReport& report) {
  TUTTI_ASSIGN_OR_RETURN(schema::Database analysis, schema::OpenRunFile(options.analysis));
  TUTTI_ASSIGN_OR_RETURN(auto files,
                         tensorboard::WriteScalars(analysis, options.output, options.force));
  for (auto& file : files) report.files.push_back({std::move(file.path), file.scalars});
  if (files.empty()) report.messages.emplace_back("the run has no steps: nothing was written");
  return OkStatus();
}

Status ExportPrometheus(const ExportOptions& options, ExportReport& report) {
  TUTTI_ASSIGN_OR_RETURN(schema::Database analysis, schema::OpenRunFile(options.analysis));
  TUTTI_ASSIGN_OR_RETURN(const auto metrics, prometheus::RenderMetrics(analysis));
  TUTTI_ASSIGN_OR_RETURN(OutputFile output, OutputFile::Create(options.output, options.force));
  output.Write(metrics.text);
  TUTTI_RETURN_IF_ERROR(output.Finish());
  report.files.push_back({options.output, metrics.samples});
  return OkStatus();
}

}  // namespace

const std::vector<Format>& Formats() {
  static const std::vector<Format> formats = {
      {"perfetto", "Perfetto trace of all ranks, one file (opens in ui.perfetto.dev)", true},
      {"chrome", "Chrome trace JSON as PyTorch's profiler writes it, one file a rank", false},
      {"tensorboard", "scalars of the steps, one folder a rank and one for all", true},
      {"csv", "the raw tables, one file a table", false},
      {"prometheus", "the report's figures as OpenMetrics text, one file", true},
  };
  return formats;
}

Result<ExportReport> Export(const ExportOptions& options) {
  const auto& formats = Formats();
  if (std::none_of(formats.begin(), formats.end(),
                   [&](const Format& format) { return options.format == format.name; })) {
    return UsageError("no export format '" + options.format + "'");
  }
  ExportReport report;
  if (options.format == "tensorboard") {
    TUTTI_RETURN_IF_ERROR(ExportTensorBoard(options, report));
    return report;
  }
  if (options.format == "prometheus") {
    TUTTI_RETURN_IF_ERROR(ExportPrometheus(options, report));
    return report;
  }
  TUTTI_ASSIGN_OR_RETURN(const auto traces, TracesOf(options.run));
  if (options.format == "perfetto") {
    TUTTI_RETURN_IF_ERROR(ExportPerfetto(traces, options, report));
  } else if (options.format == "csv") {
    TUTTI_RETURN_IF_ERROR(ExportEach(traces, options, ExportCsv, "", report));
  } else {
    TUTTI_RETURN_IF_ERROR(ExportEach(traces, options, ExportChrome, ".json", report));
  }
  return report;
}

}  // namespace tutti::exporter
