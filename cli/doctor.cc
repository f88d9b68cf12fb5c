// tutti doctor: what on this machine stands in the way of a recording or makes times noisy.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/open_run.h"
#include "cli/verb.h"
#include "collector/collector.h"

namespace tutti::cli {
namespace {

using collector::Checkup;
using collector::Health;

const char* WordFor(Health health) {
  if (health == Health::kGood) return "ok";
  return health == Health::kNote ? "note" : "problem";
}

const char* ColorFor(Health health) {
  if (health == Health::kGood) return "\x1b[32m";
  return health == Health::kNote ? "\x1b[33m" : "\x1b[31m";
}

std::string AsJson(const std::vector<Checkup>& checkups) {
  nlohmann::ordered_json checks = nlohmann::ordered_json::array();
  for (const Checkup& checkup : checkups) {
    checks.push_back({{"name", checkup.name},
                      {"health", WordFor(checkup.health)},
                      {"found", checkup.found},
                      {"advice", checkup.advice}});
  }
  const nlohmann::ordered_json document = {{"schema", "tutti.doctor/1"}, {"checks", checks}};
  return document.dump(2, ' ', /*ensure_ascii=*/true,
                       nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

// |text| in lines of at most |width|, each after |margin| blanks.
std::string Wrapped(const std::string& text, size_t margin, size_t width) {
  std::string lines;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.size(), begin + width - margin);
    if (end < text.size()) {
      const size_t blank = text.rfind(' ', end);
      if (blank != std::string::npos && blank > begin) end = blank;
    }
    lines += std::string(margin, ' ') + text.substr(begin, end - begin) + "\n";
    begin = end < text.size() && text[end] == ' ' ? end + 1 : end;
  }
  return lines;
}

std::string AsText(const std::vector<Checkup>& checkups, bool colour) {
  constexpr size_t kWidth = 100;
  constexpr size_t kWord = 9;  // "problem" and two blanks
  size_t name_width = 0;
  for (const Checkup& checkup : checkups) name_width = std::max(name_width, checkup.name.size());
  std::string text;
  for (const Checkup& checkup : checkups) {
    const std::string word = WordFor(checkup.health);
    text += colour ? ColorFor(checkup.health) + word + "\x1b[0m" : word;
    text += std::string(kWord - word.size(), ' ') + checkup.name +
            std::string(name_width + 2 - checkup.name.size(), ' ') + Printable(checkup.found) +
            "\n";
    text += Wrapped(Printable(checkup.advice), kWord, kWidth);
  }
  return text;
}

Result<int> Examine(const std::string& run, const std::string& data, const Invocation& invocation) {
  collector::DoctorOptions options;
  if (!data.empty()) options.data = data;
  if (!run.empty()) {
    TUTTI_ASSIGN_OR_RETURN(options.run, OpenRun(run));
  }
  TUTTI_ASSIGN_OR_RETURN(const auto checkups, collector::CheckMachine(options));
  TUTTI_RETURN_IF_ERROR(
      WriteOut(invocation.json ? AsJson(checkups)
                               : AsText(checkups, UseColor(invocation.color, STDOUT_FILENO))));
  const auto is_problem = [](const Checkup& checkup) { return checkup.health == Health::kProblem; };
  return std::ranges::any_of(checkups, is_problem) ? kExitGateTripped : kExitDone;
}

}  // namespace

void AddDoctor(CLI::App& app, Invocation& invocation) {
  struct Arguments {
    std::string run;
    std::string data;
  };
  const auto arguments = std::make_shared<Arguments>();
  CLI::App* doctor = app.add_subcommand(
      "doctor", "Check this machine: what hinders a recording, what makes step times noisy");
  doctor->add_option("run", arguments->run, "Also whether the ranks of this run were alike")
      ->option_text("RUN");
  doctor->add_option("--data", arguments->data, "Also how fast this file or folder can be read")
      ->option_text("PATH");
  doctor->footer("Exit code 1 if there is a problem, 0 if there are notes at most.");
  doctor->callback([arguments, &invocation] {
    const Result<int> exit_code = Examine(arguments->run, arguments->data, invocation);
    if (exit_code.ok()) {
      invocation.exit_code = *exit_code;
    } else {
      invocation.Fail(exit_code.status());
    }
  });
}

}  // namespace tutti::cli
