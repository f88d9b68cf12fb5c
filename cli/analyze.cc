// tutti analyze: the passes alone, into the derived tables of run.sqlite.
#include "analyzer/analyze.h"

#include <memory>
#include <string>

#include "cli/analysis_options.h"
#include "cli/progress.h"
#include "cli/verb.h"
#include "common/text.h"

namespace tutti::cli {
namespace {

struct AnalyzeArguments {
  std::string run;
  std::string output;
  AnalysisArguments analysis;
};

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : Printable(text)) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

void AddAnalyze(CLI::App& app, Invocation& invocation) {
  const auto arguments = std::make_shared<AnalyzeArguments>();
  CLI::App* analyze = app.add_subcommand(
      "analyze", "Run all passes over a run and write its derived tables (RUN/run.sqlite)");
  analyze->add_option("run", arguments->run, "A run's folder or one trace")
      ->required()
      ->option_text("RUN|FILE");
  analyze
      ->add_option("-o,--output", arguments->output,
                   "Where the derived tables go (default: RUN/run.sqlite, FILE.run.sqlite)")
      ->option_text("PATH");
  AddAnalysisOptions(*analyze, arguments->analysis);
  analyze->callback([arguments, &invocation] {
    analyzer::AnalyzeOptions options = WithProgress();
    options.output = arguments->output;
    arguments->analysis.ApplyTo(options);
    const Result<analyzer::Analysis> analysis = analyzer::Analyze(arguments->run, options);
    if (!analysis.ok()) {
      invocation.Fail(analysis.status());
      return;
    }
    const std::string line =
        invocation.json
            ? "{\"schema\": \"tutti.analyze/1\", \"path\": " + Quoted(analysis->path) + "}\n"
            : ToPrintableText(analysis->path) + "\n";
    if (const Status written = WriteOut(line); !written.ok()) invocation.Fail(written);
  });
}

}  // namespace tutti::cli
