// tutti-analyze-mpi RUN: `tutti analyze` by all processes that mpirun starts. A program of its own,
// because every MPI is a library of its own.
#include "analyzer/mpi/analyze_mpi.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "cli/analysis_options.h"
#include "cli/exit_code.h"
#include "common/text.h"

namespace tutti::cli {
namespace {

struct Arguments {
  std::string run;
  std::string output;
  int64_t memory_mib = 1024;
  AnalysisArguments analysis;
};

void AddArguments(CLI::App& app, Arguments& arguments) {
  app.set_version_flag("--version", "tutti " TUTTI_VERSION);
  app.add_option("run", arguments.run, "A run's folder or one trace")
      ->required()
      ->option_text("RUN|FILE");
  app.add_option("-o,--output", arguments.output,
                 "Where the derived tables go (default: RUN/run.sqlite, FILE.run.sqlite)")
      ->option_text("PATH");
  app.add_option("--memory", arguments.memory_mib,
                 "MiB of raw rows that a process keeps for the next pass (default: 1024); those of "
                 "one rank are always in memory")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 30))
      ->option_text("MIB");
  AddAnalysisOptions(app, arguments.analysis);
}

int Analyze(const Arguments& arguments) {
  analyzer::AnalyzeOptions options;
  options.output = arguments.output;
  options.trace_bytes = static_cast<size_t>(arguments.memory_mib) << 20;
  arguments.analysis.ApplyTo(options);
  const Result<analyzer::MpiAnalysis> analysis = analyzer::AnalyzeWithMpi(arguments.run, options);
  if (!analysis.ok()) {
    std::fprintf(stderr, "tutti-analyze-mpi: %s\n",
                 ToPrintableText(analysis.status().message()).c_str());
    return ExitCodeOf(analysis.status());
  }
  if (!analysis->is_leader) return kExitDone;
  if (analysis->resumed > 0) {
    std::fprintf(stderr,
                 "tutti-analyze-mpi: %lld pieces of work were done by an analysis that was "
                 "ended\n",
                 static_cast<long long>(analysis->resumed));
  }
  std::printf("%s\n", ToPrintableText(analysis->path).c_str());
  return std::fflush(stdout) == 0 ? kExitDone : kExitBadData;
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Run all passes over a run with several MPI processes: mpirun tutti-analyze-mpi RUN",
               "tutti-analyze-mpi");
  AddArguments(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitDone : kExitUsage;
  }
  return Analyze(arguments);
}

}  // namespace
}  // namespace tutti::cli

int main(int argc, char** argv) { return tutti::cli::Main(argc, argv); }
