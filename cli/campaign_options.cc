#include <filesystem>

#include "cli/ci.h"
#include "cli/record_options.h"

namespace tutti::cli {
namespace {

void AddJobOptions(CLI::App& verb, CampaignArguments& arguments) {
  verb.add_option("--build", arguments.build,
                  "Shell command that builds a folder or revision, run in it before the first "
                  "launch")
      ->option_text("COMMAND");
  verb.add_option("--workload", arguments.workload,
                  "One of Tutti's own training programs, in a folder or revision of Tutti: builds "
                  "and runs build/release/workloads/NAME")
      ->option_text("NAME");
  verb.add_option("--nproc", arguments.nproc,
                  "Start this many local ranks of the command, as torchrun would")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");
  verb.add_option("--trace", arguments.trace, "Sources to record, as of tutti record")
      ->option_text("SOURCES");
  verb.add_option("--ranks", arguments.ranks, "Ranks to record, as of tutti record")
      ->option_text("RANKS");
  verb.add_option("--buffer", arguments.buffer, "Memory for the events of each process")
      ->option_text("SIZE");
}

}  // namespace

void AddCampaignOptions(CLI::App& verb, CampaignArguments& arguments) {
  verb.add_option("-o,--output", arguments.output,
                  "Folder of the campaign; an interrupted one goes on there")
      ->capture_default_str()
      ->option_text("FOLDER");
  verb.add_option("--pairs", arguments.pairs, "Pairs of launches, in the order A B B A")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->option_text("K");
  verb.add_option("--warm-up", arguments.warm_up,
                  "Launches of each side before the first pair, that don't count")
      ->check(CLI::Range(0, 100))
      ->capture_default_str()
      ->option_text("N");
  AddJobOptions(verb, arguments);
  verb.add_option("--timeout", arguments.timeout,
                  "End a launch that takes longer (10m, 90s); then it has failed")
      ->option_text("TIME");
  verb.add_flag("--no-control", arguments.no_control,
                "Don't time fixed work before each launch: a change of the machine then looks "
                "like one of the code");
  verb.add_flag("--retry-failed", arguments.retry_failed,
                "Try launches again that failed in an earlier call");
  verb.add_flag("--anew", arguments.anew, "Remove the campaign in the folder and begin again");
}

Result<collector::campaign::CampaignOptions> CampaignOptionsOf(
    const CampaignArguments& arguments, const std::string& base, const std::string& fresh,
    const std::vector<std::string>& words) {
  collector::campaign::CampaignOptions options;
  options.folder = arguments.output;
  options.base = base;
  options.fresh = fresh;
  options.build = arguments.build;
  options.command = words;
  if (!arguments.workload.empty()) {
    options.command.insert(options.command.begin(),
                           "build/release/workloads/" + arguments.workload);
    if (options.build.empty()) options.build = "./dev build release " + arguments.workload;
  }
  const auto pass = [&](const char* option, const std::string& value) {
    if (!value.empty())
      options.record_options.insert(options.record_options.end(), {option, value});
  };
  pass("--nproc", arguments.nproc > 0 ? std::to_string(arguments.nproc) : "");
  pass("--trace", arguments.trace);
  pass("--ranks", arguments.ranks);
  pass("--buffer", arguments.buffer);
  if (!arguments.timeout.empty()) {
    TUTTI_ASSIGN_OR_RETURN(options.timeout_ns, ParseDuration(arguments.timeout));
  }
  std::error_code error;
  options.program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) return IoError("/proc/self/exe: " + error.message());
  options.pairs = arguments.pairs;
  options.warm_up = arguments.warm_up;
  options.nproc = arguments.nproc;
  options.control = !arguments.no_control;
  options.retry_failed = arguments.retry_failed;
  options.force = arguments.anew;
  return options;
}

}  // namespace tutti::cli
