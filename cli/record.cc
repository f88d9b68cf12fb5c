// tutti record: runs a training job under the tracer.
#include <memory>
#include <optional>
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
  std::optional<uint16_t> metrics_port;
  std::string metrics_every = "5s";
  bool live = false;
  int64_t window = 100;
  std::string window_size = "256M";
  double slow_step = 3;
  std::string hang_after = "30s";
  int64_t dumps = 10;
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
  options->metrics_port = arguments.metrics_port;
  TUTTI_ASSIGN_OR_RETURN(options->metrics_every_ns, ParseDuration(arguments.metrics_every));
  if (options->metrics_every_ns < 100'000'000) return UsageError("--metrics-every: at least 100ms");
  if (!arguments.max_size.empty()) {
    TUTTI_ASSIGN_OR_RETURN(options->max_bytes, ParseBytes(arguments.max_size));
    constexpr uint64_t kLeast = 16 << 20;
    if (options->max_bytes < kLeast) return UsageError("--max-size: at least 16M");
  }
  return OkStatus();
}

Status ParseLive(const RecordArguments& arguments, collector::RecordOptions* options) {
  options->alarms.slow_factor = arguments.slow_step;
  TUTTI_ASSIGN_OR_RETURN(options->alarms.hang_ns, ParseDuration(arguments.hang_after));
  if (options->alarms.hang_ns < 100'000'000) return UsageError("--hang-after: at least 100ms");
  if (!arguments.live) return OkStatus();
  if (!arguments.max_size.empty()) {
    return UsageError("--max-size: what --live keeps is bounded by --window-size and --dumps");
  }
  if (!arguments.steps.empty()) return UsageError("--steps: --live keeps the newest steps");
  collector::live::LiveSettings live;
  live.window.steps = arguments.window;
  TUTTI_ASSIGN_OR_RETURN(live.window.bytes, ParseBytes(arguments.window_size));
  constexpr uint64_t kLeast = 1 << 20;
  if (live.window.bytes < kLeast) return UsageError("--window-size: at least 1M");
  live.most_dumps = arguments.dumps;
  options->live = live;
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
  TUTTI_RETURN_IF_ERROR(ParseLive(arguments, &options));
  return options;
}

void AddLiveOptions(CLI::App& record, RecordArguments& arguments) {
  record
      .add_flag("--live", arguments.live,
                "For jobs that run for days: keep the newest steps only, and write them out to "
                "RUN/dumps when a step is slow, when a rank hangs, or at tutti ctl RUN dump")
      ->envname("TUTTI_LIVE");
  record.add_option("--window", arguments.window, "With --live: steps that are kept")
      ->envname("TUTTI_WINDOW")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  record
      .add_option("--window-size", arguments.window_size,
                  "With --live: disk for them, of each process; steps that don't fit are not kept")
      ->envname("TUTTI_WINDOW_SIZE")
      ->capture_default_str();
  record
      .add_option("--dumps", arguments.dumps,
                  "With --live: dumps at most, beside those that tutti ctl asks for")
      ->envname("TUTTI_DUMPS")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  record
      .add_option("--slow-step", arguments.slow_step,
                  "With --live or metrics: a step of so many times the median is slow")
      ->envname("TUTTI_SLOW_STEP")
      ->check(CLI::Range(1.01, 1e6))
      ->capture_default_str();
  record
      .add_option("--hang-after", arguments.hang_after,
                  "With --live or metrics: a rank without a step for so long hangs, if that is "
                  "20 times the median, too")
      ->envname("TUTTI_HANG_AFTER")
      ->capture_default_str();
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
  record
      .add_option("--metrics-port", arguments.metrics_port,
                  "Serve the same text at this port of 127.0.0.1, as /metrics; 0 is any free one")
      ->envname("TUTTI_METRICS_PORT");
  record.add_option("--metrics-every", arguments.metrics_every, "How often it is made anew")
      ->envname("TUTTI_METRICS_EVERY")
      ->capture_default_str();
  AddLiveOptions(record, arguments);
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
