// tutti compare: whether a change made the job's steps slower, and by what.
#include "analyzer/compare/compare.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/open_launch.h"
#include "cli/verb.h"
#include "cli/verdict_options.h"

namespace tutti::cli {
namespace {

namespace cmp = analyzer::compare;

// The options as they were typed.
struct CompareArguments {
  std::vector<std::string> runs;  // kArmSeparator between both sides
  VerdictArguments verdict;
};

// The runs of both sides. Two words without "--" are one of each.
struct Arms {
  std::vector<std::string> base;
  std::vector<std::string> fresh;
};
Result<Arms> SplitArms(const std::vector<std::string>& words) {
  const auto dashes = std::ranges::find(words, kArmSeparator);
  if (dashes != words.end()) return Arms{{words.begin(), dashes}, {dashes + 1, words.end()}};
  if (words.size() == 2) return Arms{{words[0]}, {words[1]}};
  return UsageError(
      "write \"--\" between the base runs and the new ones: tutti compare BASE... "
      "-- NEW...");
}

Result<std::vector<cmp::NamedComparison>> CompareAll(const CompareArguments& arguments) {
  std::vector<cmp::NamedComparison> comparisons;
  if (arguments.runs.size() == 1) {
    TUTTI_ASSIGN_OR_RETURN(auto times, cmp::ReadStepTimes(arguments.runs.front()));
    if (times && !times->pairs.empty()) {
      for (cmp::StepTimePair& pair : times->pairs) {
        TUTTI_ASSIGN_OR_RETURN(cmp::Comparison comparison,
                               cmp::Compare({std::move(pair.before)}, {std::move(pair.after)},
                                            arguments.verdict.options));
        comparisons.push_back({pair.name, std::move(comparison)});
      }
      return comparisons;
    }
  }
  TUTTI_ASSIGN_OR_RETURN(const Arms arms, SplitArms(arguments.runs));
  TUTTI_ASSIGN_OR_RETURN(auto base, OpenLaunches(arms.base));
  TUTTI_ASSIGN_OR_RETURN(auto fresh, OpenLaunches(arms.fresh));
  TUTTI_ASSIGN_OR_RETURN(cmp::Comparison comparison, cmp::Compare(std::move(base), std::move(fresh),
                                                                  arguments.verdict.options));
  comparisons.push_back({"", std::move(comparison)});
  return comparisons;
}

Result<int> CompareRuns(CompareArguments& arguments, const Invocation& invocation) {
  TUTTI_RETURN_IF_ERROR(CompleteOptions(arguments.verdict));
  TUTTI_ASSIGN_OR_RETURN(const auto comparisons, CompareAll(arguments));
  return DeliverVerdict(arguments.verdict, invocation, comparisons);
}

}  // namespace

void AddCompare(CLI::App& app, Invocation& invocation) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* compare =
      app.add_subcommand("compare", "Tell whether new runs are slower than base runs, and by what");
  compare
      ->add_option("runs", arguments->runs,
                   "Runs, traces or files of step times: base ones, \"--\", new ones")
      ->required()
      ->option_text("BASE... -- NEW...");
  AddVerdictOptions(*compare, arguments->verdict, invocation);
  compare->callback([arguments, &invocation] {
    const Result<int> exit_code = CompareRuns(*arguments, invocation);
    if (!exit_code.ok()) return FailVerdict(arguments->verdict, invocation, exit_code.status());
    invocation.exit_code = *exit_code;
  });
}

}  // namespace tutti::cli
