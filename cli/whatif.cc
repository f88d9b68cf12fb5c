// tutti whatif: how long a step would take if something were different.
#include "analyzer/replay/whatif.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/analysis_options.h"
#include "cli/choice.h"
#include "cli/open_run.h"
#include "cli/progress.h"
#include "cli/verb.h"

namespace tutti::cli {
namespace {

using analyzer::WhatIfFormat;

struct WhatIfArguments {
  std::string run;
  std::vector<std::string> scenarios;
  WhatIfFormat format = WhatIfFormat::kText;
  bool all_steps = false;
  AnalysisArguments analysis;
};

// "no-stragglers+bandwidth=2": what changes together.
std::vector<std::string> Words(const std::string& scenario) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin <= scenario.size();) {
    const size_t end = std::min(scenario.find('+', begin), scenario.size());
    words.push_back(scenario.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

Status WhatIf(const WhatIfArguments& arguments, bool json) {
  TUTTI_ASSIGN_OR_RETURN(const std::string run, OpenRun(arguments.run));
  analyzer::WhatIfOptions options{WithProgress(), arguments.all_steps};
  arguments.analysis.ApplyTo(options.analyze);
  TUTTI_ASSIGN_OR_RETURN(const analyzer::Analysis analysis,
                         analyzer::EnsureAnalyzed(run, options.analyze));
  TUTTI_ASSIGN_OR_RETURN(const auto model,
                         analyzer::WhatIfModel::Open(run, analysis.path, options));
  std::vector<std::vector<std::string>> questions;
  for (const std::string& scenario : arguments.scenarios) questions.push_back(Words(scenario));
  TUTTI_ASSIGN_OR_RETURN(
      const std::string answers,
      analyzer::RenderWhatIf(*model, questions, json ? WhatIfFormat::kJson : arguments.format));
  return WriteOut(answers);
}

}  // namespace

void AddWhatIf(CLI::App& app, Invocation& invocation) {
  const auto arguments = std::make_shared<WhatIfArguments>();
  CLI::App* whatif = app.add_subcommand(
      "whatif", "Predict how long a step would take if something were different");
  whatif
      ->add_option("run", arguments->run,
                   "A run's folder, one trace or run.sqlite, or files of other tools")
      ->required()
      ->option_text("RUN|FILE");
  whatif
      ->add_option("--scenario", arguments->scenarios,
                   "no-stragglers, rank-at-median=RANK, no-input-wait, no-exposed-comm, no-copies, "
                   "no-syncs, bandwidth=FACTOR, launch=FACTOR, host=FACTOR, op=PATTERN:FACTOR, "
                   "bucket-mb=SIZE, balanced[=RANK,RANK] or no-gaps; several with + between them "
                   "change together. All usual ones if none is given")
      ->option_text("SCENARIO");
  whatif->add_option("--format", arguments->format, "text or json (schema tutti.whatif/1)")
      ->transform(
          OneOf<WhatIfFormat>({{"text", WhatIfFormat::kText}, {"json", WhatIfFormat::kJson}}))
      ->envname("TUTTI_FORMAT")
      ->option_text("text|json");
  whatif->add_flag("--all-steps", arguments->all_steps,
                   "Replay warm-up and other steps that medians leave out as well");
  AddAnalysisOptions(*whatif, arguments->analysis);
  invocation.formats.push_back({whatif->get_option("--format"),
                                [arguments] { return arguments->format == WhatIfFormat::kJson; }});
  whatif->callback([arguments, &invocation] {
    const Status done = WhatIf(*arguments, invocation.json);
    if (!done.ok()) invocation.Fail(done);
  });
}

}  // namespace tutti::cli
