// tutti report: where each step's time goes, on which rank, and what to do about it.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/analyze.h"
#include "cli/analysis_options.h"
#include "cli/choice.h"
#include "cli/open_run.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "common/output_file.h"

namespace tutti::cli {
namespace {

using analyzer::ReportFormat;

// The options as they were typed.
struct ReportArguments {
  std::string run;
  ReportFormat format = ReportFormat::kText;
  std::string output;  // "": standard output
  bool force = false;
  std::vector<std::string> fail_on;
  bool strict = false;
  int64_t max_loss = 0;
  AnalysisArguments analysis;
};

Result<std::vector<analyzer::Gate>> ParseGates(const std::vector<std::string>& texts) {
  std::vector<analyzer::Gate> gates;
  for (const std::string& text : texts) {
    TUTTI_ASSIGN_OR_RETURN(analyzer::Gate gate, analyzer::ParseGate(text));
    gates.push_back(std::move(gate));
  }
  return gates;
}

// Says on stderr which gates tripped.
Result<bool> AnyTripped(const std::string& analysis, const std::vector<analyzer::Gate>& gates) {
  if (gates.empty()) return false;
  TUTTI_ASSIGN_OR_RETURN(const auto results, analyzer::CheckGates(analysis, gates));
  bool tripped = false;
  for (const analyzer::GateResult& result : results) {
    if (!result.tripped) continue;
    Complain("--fail-on " + result.what);
    tripped = true;
  }
  return tripped;
}

// Says on stderr what is missing.
Result<bool> IsPartial(const std::string& analysis, int64_t max_loss) {
  TUTTI_ASSIGN_OR_RETURN(const analyzer::Losses losses, analyzer::ReadLosses(analysis));
  const int64_t files = std::max(losses.ranks_missing, losses.files_unreadable);
  if (files == 0 && losses.events_lost <= max_loss) return false;
  Complain("--strict: ranks missing: " + std::to_string(losses.ranks_missing) +
           ", files unreadable: " + std::to_string(losses.files_unreadable) + ", events lost: " +
           std::to_string(losses.events_lost) + " (--max-loss " + std::to_string(max_loss) + ")");
  return true;
}

// To standard output, or as a file that appears when it is complete.
Status Deliver(const ReportArguments& arguments, const std::string& report) {
  if (arguments.output.empty()) return WriteOut(report);
  TUTTI_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(arguments.output, arguments.force));
  file.Write(report);
  return file.Finish();
}

Result<int> Report(const ReportArguments& arguments, const Invocation& invocation) {
  TUTTI_ASSIGN_OR_RETURN(const auto gates, ParseGates(arguments.fail_on));
  TUTTI_ASSIGN_OR_RETURN(const std::string run, OpenRun(arguments.run));
  analyzer::AnalyzeOptions analyze = WithProgress();
  arguments.analysis.ApplyTo(analyze);
  TUTTI_ASSIGN_OR_RETURN(const analyzer::Analysis analysis, analyzer::EnsureAnalyzed(run, analyze));
  analyzer::ReportOptions options;
  options.format = invocation.json ? ReportFormat::kJson : arguments.format;
  options.colour = arguments.output.empty() && UseColor(invocation.color, STDOUT_FILENO);
  TUTTI_ASSIGN_OR_RETURN(const std::string report, analyzer::RenderReport(analysis.path, options));
  TUTTI_RETURN_IF_ERROR(Deliver(arguments, report));
  TUTTI_ASSIGN_OR_RETURN(const bool tripped, AnyTripped(analysis.path, gates));
  if (tripped) return kExitGateTripped;
  if (!arguments.strict) return kExitDone;
  TUTTI_ASSIGN_OR_RETURN(const bool partial, IsPartial(analysis.path, arguments.max_loss));
  return partial ? kExitPartial : kExitDone;
}

void AddOptions(CLI::App& report, ReportArguments& arguments) {
  report
      .add_option("run", arguments.run,
                  "A run's folder, one trace or run.sqlite, or files of other tools")
      ->required()
      ->option_text("RUN|FILE");
  report
      .add_option(
          "--format", arguments.format,
          "text, json (schema tutti.report/1), md, or html, one page that needs nothing else")
      ->transform(OneOf<ReportFormat>({{"text", ReportFormat::kText},
                                       {"json", ReportFormat::kJson},
                                       {"md", ReportFormat::kMarkdown},
                                       {"html", ReportFormat::kHtml}}))
      ->envname("TUTTI_FORMAT")
      ->option_text("text|json|md|html");
  report.add_option("-o,--output", arguments.output, "Write into this file")->option_text("FILE");
  report.add_flag("-f,--force", arguments.force, "Replace the file if it is there")
      ->envname("TUTTI_FORCE");
  report
      .add_option("--fail-on", arguments.fail_on,
                  "Exit 1 if this finding, part of the step, exposed_comm or any finding takes at "
                  "least this share of a step: input_wait:0.1, any:5%")
      ->envname("TUTTI_FAIL_ON")
      ->option_text("KIND:SHARE");
  report
      .add_flag("--strict", arguments.strict,
                "Exit 5 if ranks are missing or more events were lost than --max-loss")
      ->envname("TUTTI_STRICT");
  report.add_option("--max-loss", arguments.max_loss, "Lost events that --strict accepts")
      ->envname("TUTTI_MAX_LOSS")
      ->check(NotNegative())
      ->capture_default_str();
  AddAnalysisOptions(report, arguments.analysis);
}

}  // namespace

void AddReport(CLI::App& app, Invocation& invocation) {
  const auto arguments = std::make_shared<ReportArguments>();
  CLI::App* report = app.add_subcommand(
      "report", "Show where the time of a run's steps goes (analyzes it first if needed)");
  AddOptions(*report, *arguments);
  invocation.formats.push_back({report->get_option("--format"),
                                [arguments] { return arguments->format == ReportFormat::kJson; }});
  report->callback([arguments, &invocation] {
    const Result<int> exit_code = Report(*arguments, invocation);
    if (exit_code.ok()) {
      invocation.exit_code = *exit_code;
    } else {
      invocation.Fail(exit_code.status());
    }
  });
}

}  // namespace tutti::cli
