// tutti export: a run as files of other tools.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyzer/analyze.h"
#include "cli/open_run.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "exporter/exporter.h"

namespace tutti::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string TextOf(const exporter::ExportReport& report) {
  std::string text;
  for (const exporter::ExportedFile& file : report.files) {
    text += file.path + ": " + std::to_string(file.events) + "\n";
  }
  return text;
}

std::string JsonOf(const exporter::ExportReport& report) {
  Json json = {
      {"schema", "tutti.export/1"}, {"files", Json::array()}, {"messages", report.messages}};
  for (const exporter::ExportedFile& file : report.files) {
    json["files"].push_back({{"path", file.path}, {"events", file.events}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool UsesAnalysis(const std::string& format) {
  const auto& formats = exporter::Formats();
  return std::any_of(formats.begin(), formats.end(), [&](const exporter::Format& one) {
    return one.name == format && one.uses_analysis;
  });
}

Result<int> Export(exporter::ExportOptions options, const Invocation& invocation) {
  TUTTI_ASSIGN_OR_RETURN(options.run, OpenRun(options.run));
  if (UsesAnalysis(options.format)) {
    TUTTI_ASSIGN_OR_RETURN(const analyzer::Analysis analysis,
                           analyzer::EnsureAnalyzed(options.run, WithProgress()));
    options.analysis = analysis.path;
  }
  TUTTI_ASSIGN_OR_RETURN(const exporter::ExportReport report, exporter::Export(options));
  for (const std::string& message : report.messages) Complain(message);
  TUTTI_RETURN_IF_ERROR(WriteOut(invocation.json ? JsonOf(report) : Printable(TextOf(report))));
  return kExitDone;
}

std::string FormatsHelp() {
  std::string help = "What to write:";
  for (const exporter::Format& format : exporter::Formats()) {
    help += std::string(help.ends_with(':') ? " " : "; ") + format.name + ", " + format.description;
  }
  return help;
}

}  // namespace

void AddExport(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<exporter::ExportOptions>();
  CLI::App* verb = app.add_subcommand(
      "export", "Write a run as files of other tools (Perfetto, TensorBoard, CSV, …)");
  std::vector<std::string> formats;
  for (const exporter::Format& format : exporter::Formats()) formats.emplace_back(format.name);
  verb->add_option("run", options->run, "A run's folder, a rank's file, or a file to import")
      ->required()
      ->option_text("RUN|FILE");
  verb->add_option("--format,--to", options->format, FormatsHelp())
      ->required()
      ->check(CLI::IsMember(formats))
      ->option_text("FORMAT");
  verb->add_option("-o,--output", options->output,
                   "perfetto, prometheus: a file; chrome: a file, or a folder for several ranks; "
                   "tensorboard, csv: a folder")
      ->required()
      ->option_text("PATH");
  verb->add_flag("-f,--force", options->force, "Replace files that are there")
      ->envname("TUTTI_FORCE");
  verb->callback([options, &invocation] {
    const Result<int> exit_code = Export(*options, invocation);
    if (exit_code.ok()) {
      invocation.exit_code = *exit_code;
    } else {
      invocation.Fail(exit_code.status());
    }
  });
}

}  // namespace tutti::cli
