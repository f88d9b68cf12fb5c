// tutti compare: whether a change made the job's steps slower, and by what.
#include "analyzer/compare/compare.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/analyze.h"
#include "cli/choice.h"
#include "cli/open_run.h"
#include "cli/progress.h"
#include "cli/verb.h"

namespace tutti::cli {
namespace {

namespace cmp = analyzer::compare;

enum class CompareFormat { kText, kJson, kMarkdown };
enum class FailOn { kRegression, kInconclusive };

// The options as they were typed.
struct CompareArguments {
  std::vector<std::string> runs;  // kArmSeparator between both sides
  CompareFormat format = CompareFormat::kText;
  cmp::CompareOptions options;
  std::string min_effect = "1%";
  FailOn fail_on = FailOn::kRegression;
  std::string junit;
  std::string summary;
  std::string metrics;
  bool strict = false;
  int64_t max_loss = 0;
};

// "1%" or "0.01".
Result<double> ParseShare(const std::string& text) {
  size_t end = 0;
  double share = -1;
  try {
    share = std::stod(text, &end);
  } catch (const std::exception&) {
    end = 0;
  }
  const std::string rest = text.substr(end);
  if (rest == "%") share /= 100;
  if (end == 0 || (!rest.empty() && rest != "%") || !(share > 0) || share >= 1) {
    return UsageError("--min-effect " + text + ": give a share such as 1% or 0.01");
  }
  return share;
}

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

Result<cmp::Launch> OpenLaunch(const std::string& name) {
  TUTTI_ASSIGN_OR_RETURN(auto times, cmp::ReadStepTimes(name));
  if (times && times->launch) return std::move(*times->launch);
  if (times) return UsageError(name + " holds pairs of runs: give it alone");
  TUTTI_ASSIGN_OR_RETURN(const std::string run, OpenRun(name));
  TUTTI_ASSIGN_OR_RETURN(const analyzer::Analysis analysis,
                         analyzer::EnsureAnalyzed(run, WithProgress()));
  TUTTI_ASSIGN_OR_RETURN(cmp::Launch launch, cmp::ReadLaunch(analysis.path, name));
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(run, error);
  cmp::ReadSurroundings(
      is_folder ? run : std::filesystem::path(analysis.path).parent_path().string(), launch);
  return launch;
}

Status CheckDistinct(std::vector<std::string> runs) {
  std::error_code error;
  for (std::string& run : runs) {
    const auto path = std::filesystem::weakly_canonical(run, error);
    if (!error) run = path.string();
  }
  std::ranges::sort(runs);
  const auto twice = std::ranges::adjacent_find(runs);
  if (twice == runs.end()) return OkStatus();
  return UsageError(*twice + " is given twice on one side: a launch counts once");
}

Result<std::vector<cmp::Launch>> OpenLaunches(const std::vector<std::string>& names) {
  TUTTI_RETURN_IF_ERROR(CheckDistinct(names));
  std::vector<cmp::Launch> launches;
  for (const std::string& name : names) {
    TUTTI_ASSIGN_OR_RETURN(cmp::Launch launch, OpenLaunch(name));
    launches.push_back(std::move(launch));
  }
  return launches;
}

Result<std::vector<cmp::NamedComparison>> CompareAll(const CompareArguments& arguments) {
  std::vector<cmp::NamedComparison> comparisons;
  if (arguments.runs.size() == 1) {
    TUTTI_ASSIGN_OR_RETURN(auto times, cmp::ReadStepTimes(arguments.runs.front()));
    if (times && !times->pairs.empty()) {
      for (cmp::StepTimePair& pair : times->pairs) {
        TUTTI_ASSIGN_OR_RETURN(
            cmp::Comparison comparison,
            cmp::Compare({std::move(pair.before)}, {std::move(pair.after)}, arguments.options));
        comparisons.push_back({pair.name, std::move(comparison)});
      }
      return comparisons;
    }
  }
  TUTTI_ASSIGN_OR_RETURN(const Arms arms, SplitArms(arguments.runs));
  TUTTI_ASSIGN_OR_RETURN(auto base, OpenLaunches(arms.base));
  TUTTI_ASSIGN_OR_RETURN(auto fresh, OpenLaunches(arms.fresh));
  TUTTI_ASSIGN_OR_RETURN(cmp::Comparison comparison,
                         cmp::Compare(std::move(base), std::move(fresh), arguments.options));
  comparisons.push_back({"", std::move(comparison)});
  return comparisons;
}

Status WriteOutputs(const CompareArguments& arguments, CompareFormat format, bool colour,
                    const std::vector<cmp::NamedComparison>& comparisons) {
  if (!arguments.junit.empty()) {
    TUTTI_RETURN_IF_ERROR(cmp::ReplaceFile(arguments.junit, cmp::RenderJUnit(comparisons)));
  }
  if (!arguments.metrics.empty()) {
    TUTTI_RETURN_IF_ERROR(cmp::ReplaceFile(arguments.metrics, cmp::RenderOpenMetrics(comparisons)));
  }
  if (!arguments.summary.empty()) {
    TUTTI_RETURN_IF_ERROR(cmp::AppendToFile(arguments.summary, cmp::RenderMarkdown(comparisons)));
  }
  switch (format) {
    case CompareFormat::kJson:
      return WriteOut(cmp::RenderJson(comparisons));
    case CompareFormat::kMarkdown:
      return WriteOut(cmp::RenderMarkdown(comparisons));
    case CompareFormat::kText:
      return WriteOut(cmp::RenderText(comparisons, colour));
  }
  return OkStatus();
}

// Says on standard error which runs are incomplete.
bool IsPartial(const std::vector<cmp::NamedComparison>& comparisons, int64_t max_loss) {
  bool partial = false;
  for (const cmp::NamedComparison& one : comparisons) {
    for (const auto* arm : {&one.comparison.base, &one.comparison.fresh}) {
      for (const cmp::Launch& launch : *arm) {
        if (launch.ranks_missing == 0 && launch.events_lost <= max_loss) continue;
        Complain("--strict: " + launch.name + ": " + std::to_string(launch.ranks_missing) +
                 " ranks missing, " + std::to_string(launch.events_lost) +
                 " events lost (--max-loss " + std::to_string(max_loss) + ")");
        partial = true;
      }
    }
  }
  return partial;
}

int ExitCodeFor(const CompareArguments& arguments,
                const std::vector<cmp::NamedComparison>& comparisons) {
  const cmp::Verdict verdict = cmp::WorstVerdict(comparisons);
  if (verdict == cmp::Verdict::kRegression) return kExitGateTripped;
  if (arguments.strict && IsPartial(comparisons, arguments.max_loss)) return kExitPartial;
  const bool open =
      verdict == cmp::Verdict::kInconclusive || verdict == cmp::Verdict::kEnvironmentChanged;
  return open && arguments.fail_on == FailOn::kInconclusive ? kExitInconclusive : kExitDone;
}

Result<int> CompareRuns(CompareArguments& arguments, const Invocation& invocation) {
  TUTTI_ASSIGN_OR_RETURN(arguments.options.rule.min_effect, ParseShare(arguments.min_effect));
  TUTTI_ASSIGN_OR_RETURN(const auto comparisons, CompareAll(arguments));
  const CompareFormat format = invocation.json ? CompareFormat::kJson : arguments.format;
  const bool colour = UseColor(invocation.color, STDOUT_FILENO);
  TUTTI_RETURN_IF_ERROR(WriteOutputs(arguments, format, colour, comparisons));
  return ExitCodeFor(arguments, comparisons);
}

void AddOutputOptions(CLI::App& compare, CompareArguments& arguments) {
  compare.add_option("--format", arguments.format, "text, json (schema tutti.compare/1) or md")
      ->transform(OneOf<CompareFormat>({{"text", CompareFormat::kText},
                                        {"json", CompareFormat::kJson},
                                        {"md", CompareFormat::kMarkdown}}))
      ->envname("TUTTI_FORMAT")
      ->option_text("text|json|md");
  compare.add_option("--junit", arguments.junit, "Write JUnit XML: a case for each gate")
      ->option_text("FILE");
  compare
      .add_option("--summary", arguments.summary,
                  "Add Markdown to this file, such as $GITHUB_STEP_SUMMARY")
      ->option_text("FILE");
  compare
      .add_option("--metrics", arguments.metrics,
                  "Replace this file by OpenMetrics text (node-exporter's textfiles, GitLab)")
      ->option_text("FILE");
}

void AddRuleOptions(CLI::App& compare, CompareArguments& arguments) {
  cmp::CompareOptions& options = arguments.options;
  compare
      .add_option("--min-effect", arguments.min_effect,
                  "Changes below this share don't matter: 1%, 0.005")
      ->envname("TUTTI_MIN_EFFECT")
      ->capture_default_str()
      ->option_text("SHARE");
  compare
      .add_option("--alpha", options.rule.alpha,
                  "Chance of a false regression that is accepted, over all gates together")
      ->check(CLI::Range(1e-6, 0.2))
      ->envname("TUTTI_ALPHA")
      ->capture_default_str()
      ->option_text("P");
  compare
      .add_option("--gate", options.gates,
                  "Metric that decides (default: step_time and exposed_comm); may be given more "
                  "than once")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->option_text("METRIC");
  compare
      .add_option("--pairing", options.pairing,
                  "Whether the k-th base and new run are a pair: auto looks whether they ran in "
                  "turns")
      ->transform(OneOf<cmp::Pairing>({{"auto", cmp::Pairing::kAuto},
                                       {"paired", cmp::Pairing::kPaired},
                                       {"unpaired", cmp::Pairing::kUnpaired}}))
      ->option_text("auto|paired|unpaired");
  compare.add_flag("--within-launch", options.within_launch,
                   "Gate on one run against one, though noise between launches is not known");
  compare.add_flag("--force", options.force,
                   "Compare runs that differ in GPU, world size, batch, torch version or workload");
}

void AddExitOptions(CLI::App& compare, CompareArguments& arguments) {
  compare
      .add_option("--fail-on", arguments.fail_on,
                  "Exit 1 for a regression; with inconclusive also 4 for what can't be decided")
      ->transform(OneOf<FailOn>(
          {{"regression", FailOn::kRegression}, {"inconclusive", FailOn::kInconclusive}}))
      ->option_text("regression|inconclusive");
  compare
      .add_flag("--strict", arguments.strict,
                "Exit 5 if ranks are missing or more events were lost than --max-loss")
      ->envname("TUTTI_STRICT");
  compare.add_option("--max-loss", arguments.max_loss, "Lost events that --strict accepts")
      ->envname("TUTTI_MAX_LOSS")
      ->check(NotNegative())
      ->capture_default_str();
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
  AddRuleOptions(*compare, *arguments);
  AddOutputOptions(*compare, *arguments);
  invocation.formats.push_back({compare->get_option("--format"),
                                [arguments] { return arguments->format == CompareFormat::kJson; }});
  AddExitOptions(*compare, *arguments);
  compare->callback([arguments, &invocation] {
    const Result<int> exit_code = CompareRuns(*arguments, invocation);
    if (exit_code.ok()) {
      invocation.exit_code = *exit_code;
      return;
    }
    invocation.Fail(exit_code.status());
    if (arguments->junit.empty()) return;
    const std::string error = cmp::RenderJUnitError(exit_code.status().message());
    const Status written = cmp::ReplaceFile(arguments->junit, error);
    if (!written.ok()) Complain(written.message());
  });
}

}  // namespace tutti::cli
