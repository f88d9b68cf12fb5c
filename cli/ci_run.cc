// tutti ci run: records launches of two versions in turns, and compares them.
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

// The options as they were typed.
struct RunArguments {
  std::string base;
  std::string fresh;
  int confirm = 0;
  CampaignArguments campaign;
  VerdictArguments verdict;
};

// Of the campaign's pairs from `first` on.
Result<cmp::Comparison> ComparePairs(const collector::campaign::Campaign& campaign, int first,
                                     const cmp::CompareOptions& options) {
  const auto from = [first](const std::vector<std::string>& runs) {
    return std::vector<std::string>(runs.begin() + first, runs.end());
  };
  TUTTI_ASSIGN_OR_RETURN(auto base, OpenLaunches(from(campaign.base)));
  TUTTI_ASSIGN_OR_RETURN(auto fresh, OpenLaunches(from(campaign.fresh)));
  return cmp::Compare(std::move(base), std::move(fresh), options);
}

Result<int> RunAndCompare(RunArguments& arguments, const Invocation& invocation) {
  TUTTI_RETURN_IF_ERROR(CompleteOptions(arguments.verdict));
  TUTTI_ASSIGN_OR_RETURN(auto options, CampaignOptionsOf(arguments.campaign, arguments.base,
                                                         arguments.fresh, invocation.command));
  TUTTI_ASSIGN_OR_RETURN(auto campaign, collector::campaign::RunCampaign(options));
  TUTTI_ASSIGN_OR_RETURN(cmp::Comparison comparison,
                         ComparePairs(campaign, 0, arguments.verdict.options));
  if (arguments.confirm > 0 && comparison.verdict == cmp::Verdict::kRegression) {
    Complain("a regression, which " + std::to_string(arguments.confirm) +
             " further pairs are to confirm");
    options.further_pairs = arguments.confirm;
    options.force = false;  // it would remove what was recorded
    TUTTI_ASSIGN_OR_RETURN(campaign, collector::campaign::RunCampaign(options));
    TUTTI_ASSIGN_OR_RETURN(
        cmp::Comparison further,
        ComparePairs(campaign, options.pairs, cmp::ConfirmationOptions(comparison)));
    cmp::Confirm(comparison, std::move(further));
  }
  comparison.notes.insert(comparison.notes.end(), campaign.notes.begin(), campaign.notes.end());
  return DeliverVerdict(arguments.verdict, invocation, {{"", std::move(comparison)}});
}

}  // namespace

void AddCiRun(CLI::App& ci, Invocation& invocation) {
  const auto arguments = std::make_shared<RunArguments>();
  arguments->verdict.environment_fails = true;
  arguments->verdict.options.pairing = cmp::Pairing::kPaired;
  CLI::App* run = ci.add_subcommand(
      "run", "Record base and new in turns and compare them: ci run … -- [COMMAND]");
  run->add_option("--base", arguments->base,
                  "What is compared with: a program, a folder, a git revision or sh:COMMAND")
      ->required()
      ->option_text("SIDE");
  run->add_option("--new", arguments->fresh, "What is judged: the same")
      ->required()
      ->option_text("SIDE");
  run->add_option("--confirm", arguments->confirm,
                  "After a regression record so many further pairs, and call it one only if they "
                  "alone show it again")
      ->check(CLI::Range(2, 1000))
      ->option_text("K");
  AddCampaignOptions(*run, arguments->campaign);
  AddVerdictOptions(*run, arguments->verdict, invocation);
  run->callback([arguments, &invocation] {
    const Result<int> exit_code = RunAndCompare(*arguments, invocation);
    if (!exit_code.ok()) return FailVerdict(arguments->verdict, invocation, exit_code.status());
    invocation.exit_code = *exit_code;
  });
}

}  // namespace tutti::cli
