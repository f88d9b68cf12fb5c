// tutti import: files of other tools into a run.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "cli/progress.h"
#include "cli/verb.h"
#include "collector/collector.h"
#include "common/number.h"
#include "common/text.h"

namespace tutti::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string Plural(size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string Describe(const collector::ImportedTrace& trace) {
  std::string text = "  rank " + std::to_string(trace.rank) + "  " + WithCommas(trace.events) +
                     (trace.events == 1 ? " event" : " events");
  if (trace.events_skipped > 0) text += ", " + WithCommas(trace.events_skipped) + " skipped";
  for (const std::string& source : trace.sources) text += "  " + ToPrintableText(source);
  if (trace.is_assumed) text += "  (rank assumed)";
  if (trace.is_conflict) text += "  (claims a rank that another file has)";
  return text + "\n";
}

// The run, then a line a rank; the first of many are enough.
std::string TextOf(const collector::ImportReport& report) {
  constexpr size_t kMostLines = 16;
  std::string text =
      ToPrintableText(report.run_path) + ": " + Plural(report.traces.size(), "rank") + "\n";
  for (size_t i = 0; i < report.traces.size() && i < kMostLines; ++i) {
    text += Describe(report.traces[i]);
  }
  if (report.traces.size() > kMostLines) {
    text += "  … and " + Plural(report.traces.size() - kMostLines, "more rank") + "\n";
  }
  return text;
}

std::string JsonOf(const collector::ImportReport& report) {
  Json json = {{"schema", "tutti.import/1"},
               {"run", report.run_path},
               {"traces", Json::array()},
               {"messages", report.messages}};
  for (const collector::ImportedTrace& trace : report.traces) {
    json["traces"].push_back({{"rank", trace.rank},
                              {"file", trace.file},
                              {"rank_assumed", trace.is_assumed},
                              {"rank_conflict", trace.is_conflict},
                              {"sources", trace.sources},
                              {"events", trace.events},
                              {"events_skipped", trace.events_skipped}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<int> Import(const collector::ImportOptions& options, const Invocation& invocation) {
  TUTTI_ASSIGN_OR_RETURN(const collector::ImportReport report, collector::Import(options));
  for (const std::string& message : report.messages) Complain(message);
  TUTTI_RETURN_IF_ERROR(WriteOut(invocation.json ? JsonOf(report) : TextOf(report)));
  return report.named_unread == 0 ? kExitDone : kExitBadData;
}

}  // namespace

void AddImport(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<collector::ImportOptions>();
  CLI::App* verb = app.add_subcommand(
      "import",
      "Turn files of other tools (PyTorch profiler, Nsight Systems, NCCL flight recorder, memory "
      "snapshots) into a run");
  verb->add_option("inputs", options->inputs, "Trace files, or folders with one file a rank")
      ->required()
      ->option_text("FILE|DIR …");
  verb->add_option("-o,--output", options->output,
                   "The run's folder; %n is the lowest free number, other patterns as in record")
      ->envname("TUTTI_OUTPUT")
      ->capture_default_str()
      ->option_text("RUN");
  verb->add_flag("-f,--force", options->force, "Replace a finished run")->envname("TUTTI_FORCE");
  verb->add_option("--assume-rank", options->assume_rank,
                   "Traces that don't say which rank they are are rank N and those that follow it, "
                   "in the order of their names")
      ->check(CLI::Range(0, (1 << 24) - 1))
      ->option_text("N");
  verb->callback([options, &invocation] {
    options->progress = ImportProgress();
    const Result<int> exit_code = Import(*options, invocation);
    options->progress = nullptr;
    if (exit_code.ok()) {
      invocation.exit_code = *exit_code;
    } else {
      invocation.Fail(exit_code.status());
    }
  });
}

}  // namespace tutti::cli
