// What every verb of the command line has in common. A verb is one file with one function
// that adds its subcommand and options to the application; its callback does the work and
// leaves the exit code in Invocation.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/terminal.h"

namespace tutti::cli {

class Settings;

// A verb's --format option, and whether it says json.
struct FormatOption {
  const CLI::Option* option = nullptr;
  std::function<bool()> is_json;
};

// State of one run of the program. Lives in main; verbs keep references to it.
struct Invocation {
  ColorChoice color = ColorChoice::kAuto;
  bool json = false;                   // --json: short for --format json
  std::vector<FormatOption> formats;   // those that --json is short for
  std::shared_ptr<Settings> settings;  // what options are set to, once parsed
  int exit_code = kExitDone;
  std::vector<std::string> command;  // of `record`, `ci run`, …: the words behind "--"

  // Tells the user why there is no result, and sets the exit code.
  void Fail(const Status& status) {
    Complain(status.message());
    exit_code = ExitCodeOf(status);
  }
};

// Stands for "--" between the runs of `compare`, so that options may follow it.
inline constexpr const char* kArmSeparator = ":--:";

// One declaration a verb (and one line in main.cc's table), in the order in which they are
// listed: void AddReport(CLI::App& app, Invocation& invocation);
using AddVerb = void (*)(CLI::App& app, Invocation& invocation);

void AddRecord(CLI::App& app, Invocation& invocation);
void AddCtl(CLI::App& app, Invocation& invocation);
void AddImport(CLI::App& app, Invocation& invocation);
void AddReport(CLI::App& app, Invocation& invocation);
void AddView(CLI::App& app, Invocation& invocation);
void AddExport(CLI::App& app, Invocation& invocation);
void AddWhatIf(CLI::App& app, Invocation& invocation);
void AddCompare(CLI::App& app, Invocation& invocation);
void AddCi(CLI::App& app, Invocation& invocation);
void AddAnalyze(CLI::App& app, Invocation& invocation);
void AddMigrate(CLI::App& app, Invocation& invocation);
void AddQuery(CLI::App& app, Invocation& invocation);
void AddDoctor(CLI::App& app, Invocation& invocation);
void AddSchema(CLI::App& app, Invocation& invocation);
void AddEnv(CLI::App& app, Invocation& invocation);
void AddConfig(CLI::App& app, Invocation& invocation);
void AddCompletion(CLI::App& app, Invocation& invocation);

}  // namespace tutti::cli
