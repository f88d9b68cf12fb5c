// The `tutti` command: options that all verbs share, and the table of verbs.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "cli/choice.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "collector/collector.h"

namespace tutti::cli {
namespace {

// In the order in which they are listed: the way through the product.
const std::vector<AddVerb> kVerbs = {
    &AddRecord, &AddCtl,    &AddImport, &AddReport,  &AddView,      &AddCompare,
    &AddCi,     &AddExport, &AddWhatIf, &AddAnalyze, &AddQuery,     &AddMigrate,
    &AddEnv,    &AddDoctor, &AddSchema, &AddConfig,  &AddCompletion};

// --json and another --format can't both be meant. A format of a variable or file gives way.
void CheckFormats(const Invocation& invocation) {
  for (const FormatOption& format : invocation.formats) {
    if (!invocation.json || !invocation.settings->IsFlag(*format.option)) continue;
    if (format.is_json()) continue;
    throw CLI::ValidationError("--json",
                               "is short for --format json, but another --format was given too");
  }
}

void AddSharedOptions(CLI::App& app, Invocation& invocation) {
  app.add_option("--color", invocation.color, "Colour the output: auto, always or never")
      ->transform(OneOf<ColorChoice>({{"auto", ColorChoice::kAuto},
                                      {"always", ColorChoice::kAlways},
                                      {"never", ColorChoice::kNever}}))
      ->envname("TUTTI_COLOR")
      ->default_str("auto")
      ->option_text("auto|always|never");
  app.add_flag("--json", invocation.json, "Short for --format json");
  app.set_version_flag("--version", std::string("tutti ") + TUTTI_VERSION);
  invocation.settings = Settings::Install(app);
  app.parse_complete_callback([&invocation] { CheckFormats(invocation); });
  app.require_subcommand(1);
  app.fallthrough();
}

// The verb and what stands right behind it: the words that decide what "--" means. Found before
// the command line is parsed.
struct VerbWords {
  std::string verb;
  std::string below;
};
VerbWords FindVerb(const CLI::App& app, int argc, char** argv) {
  char** const end = argv + argc;
  const std::vector<const CLI::App*> verbs = app.get_subcommands({});
  char** const verb = std::find_if(argv + 1, end, [&verbs](const char* word) {
    return std::ranges::find(verbs, word, &CLI::App::get_name) != verbs.end();
  });
  if (verb == end) return {};
  return {*verb, verb + 1 == end ? "" : verb[1]};
}

// Verbs behind whose "--" stands a command. It is cut off here because CLI11 would take some of
// its words apart ("[1,2]").
bool TakesCommand(const VerbWords& words) {
  return words.verb == "record" ||
         (words.verb == "ci" && (words.below == "run" || words.below == "calibrate"));
}

// Verbs behind whose "--" stand the new runs.
bool TakesArms(const VerbWords& words) {
  return words.verb == "compare" || (words.verb == "ci" && words.below == "gate");
}

// Cuts the command off, or puts kArmSeparator for the "--" between runs, so that options may
// follow it. Returns how many words are left.
int TakeDashes(const VerbWords& words, int argc, char** argv, std::vector<std::string>* command) {
  char** const end = argv + argc;
  char** const dashes = std::find(argv, end, std::string_view("--"));
  if (dashes == end) return argc;
  if (TakesArms(words)) {
    static std::string separator = kArmSeparator;
    *dashes = separator.data();
  }
  if (!TakesCommand(words)) return argc;
  command->assign(dashes + 1, end);
  return static_cast<int>(dashes - argv);
}

// `record` is our caller's wrapper around a command, so what goes wrong with it must not look
// like the command's own exit code.
int ExitCodeFor(ExitCode code, const VerbWords& words) {
  return words.verb == "record" ? kExitRecordOurs : code;
}

// What is wrong with the command line, in one line.
std::string Explain(const CLI::App& app, const CLI::ParseError& error) {
  std::string text = error.what();
  const std::vector<std::string> unknown = app.remaining();
  if (app.get_subcommands().empty() && !unknown.empty()) {
    text = unknown.front() + ": there is no such verb";
  } else if (app.get_subcommands().empty() && error.get_name() == "RequiredError") {
    text = "a verb is missing";
  }
  return text + " (tutti --help shows the usage)";
}

// Whoever started us is to see that a signal ended us; 0 is none.
void DieOf(int signal) {
  if (signal == 0) return;
  std::fflush(nullptr);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

int Main(int argc, char** argv) {
  Invocation invocation;
  CLI::App app{
      "Where does each training step's time go, on which rank, and what would be gained "
      "by fixing it?",
      "tutti"};
  AddSharedOptions(app, invocation);
  for (auto* add_verb : kVerbs) add_verb(app, invocation);
  const VerbWords words = FindVerb(app, argc, argv);
  argc = TakeDashes(words, argc, argv, &invocation.command);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    Complain(Explain(app, error));
    return ExitCodeFor(kExitUsage, words);
  } catch (const std::exception& error) {  // no memory, or a bug
    Complain(error.what());
    return ExitCodeFor(kExitBadData, words);
  }
  DieOf(collector::ImportInterruptedBy());
  return invocation.exit_code;
}

}  // namespace
}  // namespace tutti::cli

int main(int argc, char** argv) {
  try {
    return tutti::cli::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti: %s\n", error.what());
    return tutti::cli::kExitBadData;
  }
}
