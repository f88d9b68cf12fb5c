// tutti ctl: tells a recording that runs what to record from now on.
#include <cstdio>
#include <memory>
#include <string>

#include "cli/verb.h"
#include "collector/collector.h"

namespace tutti::cli {
namespace {

struct CtlArguments {
  std::string run;
  std::string action;
  std::string steps;
};

constexpr int64_t kTimeoutNs = 10'000'000'000;

Result<std::string> WishOf(const CtlArguments& arguments) {
  const bool takes_steps = arguments.action == "steps";
  if (takes_steps && arguments.steps.empty()) {
    return UsageError("ctl steps: give the first step and the one after the last, as 40:60");
  }
  if (!takes_steps && !arguments.steps.empty()) {
    return UsageError("ctl " + arguments.action + ": takes no steps");
  }
  return takes_steps ? "steps " + arguments.steps : arguments.action;
}

Status RunCtl(const CtlArguments& arguments) {
  if (arguments.action == "dump") {
    if (!arguments.steps.empty()) return UsageError("ctl dump: takes no steps");
    TUTTI_ASSIGN_OR_RETURN(const std::string path,
                           collector::DumpWindow(arguments.run, kTimeoutNs));
    std::printf("%s\n", path.c_str());
    return OkStatus();
  }
  TUTTI_ASSIGN_OR_RETURN(const std::string wish, WishOf(arguments));
  TUTTI_ASSIGN_OR_RETURN(const int recorders,
                         collector::ControlRecording(arguments.run, wish, kTimeoutNs));
  std::printf("%s: %s, %d %s\n", arguments.run.c_str(), wish.c_str(), recorders,
              recorders == 1 ? "recorder" : "recorders");
  return OkStatus();
}

}  // namespace

void AddCtl(CLI::App& app, Invocation& invocation) {
  auto arguments = std::make_shared<CtlArguments>();
  CLI::App* ctl = app.add_subcommand("ctl", "Switch a running recording off and on");
  ctl->footer(
      "start    records everything that the recording is of\n"
      "stop     records nothing until start\n"
      "steps    records steps A up to B, B excluded, of those that the program marks with\n"
      "         annotate.h; before and after them only the program's ranges\n"
      "dump     of a recording with --live: writes the newest steps out, and prints where to");
  ctl->add_option("RUN", arguments->run, "Directory of the run")->required();
  ctl->add_option("ACTION", arguments->action, "start, stop, steps or dump")
      ->required()
      ->check(CLI::IsMember({"start", "stop", "steps", "dump"}));
  ctl->add_option("steps", arguments->steps,
                  "For steps: A:B, the first and the one after the last");
  ctl->callback([arguments, &invocation] {
    if (const Status status = RunCtl(*arguments); !status.ok()) invocation.Fail(status);
  });
}

}  // namespace tutti::cli
