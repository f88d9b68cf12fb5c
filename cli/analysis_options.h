// Options that decide what an analysis says, shared by the verbs that may run one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "analyzer/analyze.h"

namespace tutti::cli {

struct AnalysisArguments {
  std::string kernel_rules;
  std::string step_range;

  void ApplyTo(analyzer::AnalyzeOptions& options) const {
    options.kernel_rules = kernel_rules;
    options.step_range = step_range;
  }
};

// `arguments` outlives `verb`.
inline void AddAnalysisOptions(CLI::App& verb, AnalysisArguments& arguments) {
  verb.add_option("--kernel-rules", arguments.kernel_rules,
                  "A file of lines 'communication PATTERN', 'compute PATTERN' or 'copy PATTERN' "
                  "(* any text, ? one character): what GPU kernels do, before what Tutti knows")
      ->envname("TUTTI_KERNEL_RULES")
      ->option_text("FILE");
  verb.add_option("--step-range", arguments.step_range,
                  "Name of the program's range that is a step, where steps are not marked")
      ->envname("TUTTI_STEP_RANGE")
      ->option_text("NAME");
}

}  // namespace tutti::cli
