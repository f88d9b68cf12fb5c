// tutti ci gate: a verdict on runs that other jobs of a pipeline have recorded.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/ci.h"
#include "cli/open_launch.h"
#include "cli/verdict_options.h"

namespace tutti::cli {
namespace {

namespace cmp = analyzer::compare;
namespace fs = std::filesystem;

// The options as they were typed.
struct GateArguments {
  std::vector<std::string> runs;  // a folder, or kArmSeparator between both sides
  VerdictArguments verdict;
};

struct Arms {
  std::vector<std::string> base;
  std::vector<std::string> fresh;
  std::string note;
};

// base-1 new-1 base-2 … of a folder, as `tutti ci run` and samples/ci name them. A pair of which
// one is missing is left out, and said.
Result<Arms> ArmsIn(const std::string& folder) {
  std::error_code error;
  std::vector<int> pairs;
  size_t found = 0;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_new = name.starts_with("new-");
    if (!is_new && !name.starts_with("base-")) continue;
    const std::string digits = name.substr(name.find('-') + 1);
    if (digits.empty() || digits.size() > 6 ||
        digits.find_first_not_of("0123456789") != std::string::npos) {
      continue;
    }
    ++found;
    const std::string other = folder + "/" + (is_new ? "base-" : "new-") + digits;
    if (!is_new && fs::exists(other, error)) pairs.push_back(std::stoi(digits));
  }
  if (pairs.empty()) {
    return NotFoundError(folder + ": no pairs of runs base-1 and new-1, base-2 and new-2, …");
  }
  std::ranges::sort(pairs);
  Arms arms;
  for (const int pair : pairs) {
    arms.base.push_back(folder + "/base-" + std::to_string(pair));
    arms.fresh.push_back(folder + "/new-" + std::to_string(pair));
  }
  const size_t single = found - 2 * pairs.size();
  if (single > 0) {
    arms.note =
        "left out, because the other run of the pair is missing: " + std::to_string(single) +
        " of " + std::to_string(found) + " runs in " + folder;
  }
  return arms;
}

Result<Arms> ArmsOf(const std::vector<std::string>& words) {
  const auto dashes = std::ranges::find(words, kArmSeparator);
  if (dashes != words.end()) return Arms{{words.begin(), dashes}, {dashes + 1, words.end()}, ""};
  if (words.size() == 1) return ArmsIn(words.front());
  return UsageError("give a folder with runs base-1, new-1, …, or BASE... -- NEW...");
}

Result<int> Gate(GateArguments& arguments, const Invocation& invocation) {
  TUTTI_RETURN_IF_ERROR(CompleteOptions(arguments.verdict));
  TUTTI_ASSIGN_OR_RETURN(const Arms arms, ArmsOf(arguments.runs));
  TUTTI_ASSIGN_OR_RETURN(auto base, OpenLaunches(arms.base));
  TUTTI_ASSIGN_OR_RETURN(auto fresh, OpenLaunches(arms.fresh));
  TUTTI_ASSIGN_OR_RETURN(cmp::Comparison comparison, cmp::Compare(std::move(base), std::move(fresh),
                                                                  arguments.verdict.options));
  if (!arms.note.empty()) comparison.notes.push_back(arms.note);
  return DeliverVerdict(arguments.verdict, invocation, {{"", std::move(comparison)}});
}

}  // namespace

void AddCiGate(CLI::App& ci, Invocation& invocation) {
  const auto arguments = std::make_shared<GateArguments>();
  arguments->verdict.environment_fails = true;
  CLI::App* gate =
      ci.add_subcommand("gate", "Judge runs that were recorded before: a folder, or both sides");
  gate->add_option("runs", arguments->runs,
                   "A folder with runs base-1, new-1, …; or base runs, \"--\", new ones")
      ->required()
      ->option_text("FOLDER | BASE... -- NEW...");
  AddVerdictOptions(*gate, arguments->verdict, invocation);
  gate->callback([arguments, &invocation] {
    const Result<int> exit_code = Gate(*arguments, invocation);
    if (!exit_code.ok()) return FailVerdict(arguments->verdict, invocation, exit_code.status());
    invocation.exit_code = *exit_code;
  });
}

}  // namespace tutti::cli
