// tutti ci: verdicts for pipelines.
#include "cli/ci.h"

namespace tutti::cli {

void AddCi(CLI::App& app, Invocation& invocation) {
  CLI::App* ci = app.add_subcommand("ci", "Verdicts for pipelines: record, judge, keep a history");
  ci->require_subcommand(1);
  AddCiRun(*ci, invocation);
  AddCiGate(*ci, invocation);
  AddCiCalibrate(*ci, invocation);
  AddCiHistory(*ci, invocation);
}

}  // namespace tutti::cli
