// tutti record: runs a training job under the tracer.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/record_options.h"
#include "cli/verb.h"
#include "collector/collector.h"
#include "common/wire/layout.h"
#include "common/wire/wire.h"

namespace tutti::cli {
namespace {

// The options as they were typed.
struct RecordArguments {
  std::string output = "tutti-runs/%n/";
  std::string trace;
  std::string steps;
  std::string ranks;
  std::string buffer = "64M";
  std::string flush = "1s";
  std::string max_size;
  std::string metrics;
  std::string metrics_every = "5s";
  int32_t nproc = 0;
  bool shapes = false;
  bool force = false;
};

std::string AllSources() {
  std::string names;
  for (const collector::Source& source : collector::AvailableSources()) {
    names += (names.empty() ? "" : ",") + std::string(source.name);
  }
  return names;
}

Status ParseLimits(const RecordArguments& arguments, collector::RecordOptions* options) {
  TUTTI_ASSIGN_OR_RETURN(options->buffer_bytes, ParseBytes(arguments.buffer));
  if (!wire::PlanSegment(options->buffer_bytes)) {
    return UsageError("--buffer " + arguments.buffer + ": 4M to 64G are possible");
  }
  TUTTI_ASSIGN_OR_RETURN(options->flush_ns, ParseDuration(arguments.flush));
  options->metrics_path = arguments.metrics;
  TUTTI_ASSIGN_OR_RETURN(options->metrics_every_ns, ParseDuration(arguments.metrics_every));
  if (options->metrics_every_ns < 100'000'000) return UsageError("--metrics-every: at least 100ms");
  if (!arguments.max_size.empty()) {
    TUTTI_ASSIGN_OR_RETURN(options->max_bytes, ParseBytes(arguments.max_size));
    constexpr uint64_t kLeast = 16 << 20;
    if (options->max_bytes < kLeast) return UsageError("--max-size: at least 16M");
  }
  return OkStatus();
}

Result<collector::RecordOptions> ParseArguments(const RecordArguments& arguments,
                                                std::vector<std::string> command) {
  collector::RecordOptions options;
  options.output = arguments.output;
  options.force = arguments.force;
  options.nproc = arguments.nproc;
  options.command = std::move(command);
  TUTTI_RETURN_IF_ERROR(
      ParseSources(arguments.trace.empty() ? AllSources() : arguments.trace, &options));
  if (arguments.shapes) options.capture_mask |= wire::kCaptureShapes;
  if (!arguments.steps.empty()) {
    TUTTI_ASSIGN_OR_RETURN(options.steps, ParseSteps(arguments.steps));
  }
  if (!arguments.ranks.empty()) {
    TUTTI_ASSIGN_OR_RETURN(options.ranks, collector::session::RankSelector::Parse(arguments.ranks));
  }
  TUTTI_RETURN_IF_ERROR(ParseLimits(arguments, &options));
  return options;
}

void AddOptions(CLI::App& record, RecordArguments& arguments) {
  record
      .add_option("-o,--output", arguments.output,
                  "Directory of the run; %n lowest free number, %h host, %p process id, %r rank, "
                  "%s world size, %j job, %q{NAME} variable, %% per cent")
      ->envname("TUTTI_OUTPUT")
      ->capture_default_str();
  record.add_flag("-f,--force", arguments.force, "Replace a finished run of that name");
  record
      .add_option("--nproc", arguments.nproc,
                  "Start this many local ranks of the command, as torchrun would")
      ->envname("TUTTI_NPROC")
      ->check(CLI::Range(1, 1024));
  record
      .add_option("--trace", arguments.trace,
                  "Sources to record, of: " + AllSources() + " (default: all)")
      ->envname("TUTTI_TRACE");
  record.add_option("--steps", arguments.steps, "Keep only steps A up to B, B excluded: A:B")
      ->envname("TUTTI_STEPS");
  record
      .add_option("--ranks", arguments.ranks,
                  "Record only these ranks: 0,8-15, or local0, or sample:8")
      ->envname("TUTTI_RANKS");
  record.add_option("--buffer", arguments.buffer, "Memory for the events of each process")
      ->envname("TUTTI_BUFFER")
      ->capture_default_str();
  record
      .add_option("--flush", arguments.flush,
                  "How long events may stay in memory before they are written to disk")
      ->envname("TUTTI_FLUSH")
      ->capture_default_str();
  record
      .add_option("--max-size", arguments.max_size,
                  "Stop recording, not the job, before the run takes more disk than this")
      ->envname("TUTTI_MAX_SIZE");
  record
      .add_option("--metrics", arguments.metrics,
                  "Replace this file every few seconds by OpenMetrics text about the running job: "
                  "steps, their lengths, time since the last one")
      ->envname("TUTTI_METRICS");
  record.add_option("--metrics-every", arguments.metrics_every, "How often that is")
      ->envname("TUTTI_METRICS_EVERY")
      ->capture_default_str();
  record.add_flag("--shapes", arguments.shapes, "Record the input shapes of operators (slower)")
      ->envname("TUTTI_SHAPES");
}

// The command: what stands behind "--", or everything from the first word on that is no
// option of ours.
Result<std::vector<std::string>> CommandOf(const CLI::App& record, const Invocation& invocation) {
  std::vector<std::string> words = record.remaining();
  if (!words.empty() && words.front().starts_with('-')) {
    return UsageError(words.front() + ": no option of tutti record (tutti record --help)");
  }
  if (!words.empty() && !invocation.command.empty()) words.emplace_back("--");  // the command's
  words.insert(words.end(), invocation.command.begin(), invocation.command.end());
  if (words.empty()) {
    return UsageError("no command: tutti record [options] -- COMMAND [argument]...");
  }
  return words;
}

}  // namespace

void AddRecord(CLI::App& app, Invocation& invocation) {
  const auto arguments = std::make_shared<RecordArguments>();
  CLI::App* record =
      app.add_subcommand("record", "Run a training job under the tracer: record -- COMMAND");
  record->fallthrough(false);
  record->prefix_command();
  record->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  AddOptions(*record, *arguments);
  record->callback([record, arguments, &invocation] {
    invocation.exit_code = kExitRecordOurs;
    auto command = CommandOf(*record, invocation);
    if (!command.ok()) return Complain(command.status().message());
    const auto options = ParseArguments(*arguments, std::move(*command));
    if (!options.ok()) return Complain(options.status().message());
    invocation.exit_code = collector::Record(*options);
  });
}

}  // namespace tutti::cli
