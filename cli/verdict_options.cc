#include "cli/verdict_options.h"

#include <unistd.h>

#include <exception>
#include <span>

#include "cli/choice.h"

namespace tutti::cli {
namespace {

namespace cmp = analyzer::compare;

Status WriteOutputs(const VerdictArguments& arguments, VerdictFormat format, bool colour,
                    const std::vector<cmp::NamedComparison>& comparisons) {
  if (!arguments.junit.empty()) {
    TUTTI_RETURN_IF_ERROR(cmp::ReplaceFile(arguments.junit, cmp::RenderJUnit(comparisons)));
  }
  if (!arguments.metrics.empty()) {
    TUTTI_RETURN_IF_ERROR(cmp::ReplaceFile(arguments.metrics, cmp::RenderOpenMetrics(comparisons)));
  }
  if (!arguments.html.empty()) {
    TUTTI_RETURN_IF_ERROR(cmp::ReplaceFile(arguments.html, cmp::RenderHtml(comparisons)));
  }
  if (!arguments.summary.empty()) {
    TUTTI_RETURN_IF_ERROR(cmp::AppendToFile(arguments.summary, cmp::RenderMarkdown(comparisons)));
  }
  switch (format) {
    case VerdictFormat::kJson:
      return WriteOut(cmp::RenderJson(comparisons));
    case VerdictFormat::kMarkdown:
      return WriteOut(cmp::RenderMarkdown(comparisons));
    case VerdictFormat::kHtml:
      return WriteOut(cmp::RenderHtml(comparisons));
    case VerdictFormat::kText:
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
        Complain("--strict: " + launch.name +
                 ": ranks missing: " + std::to_string(launch.ranks_missing) +
                 ", events lost: " + std::to_string(launch.events_lost) + " (--max-loss " +
                 std::to_string(max_loss) + ")");
        partial = true;
      }
    }
  }
  return partial;
}

int ExitCodeFor(const VerdictArguments& arguments,
                const std::vector<cmp::NamedComparison>& comparisons) {
  const cmp::Verdict verdict = cmp::WorstVerdict(comparisons);
  if (verdict == cmp::Verdict::kRegression) return kExitGateTripped;
  if (arguments.strict && IsPartial(comparisons, arguments.max_loss)) return kExitPartial;
  const bool moved = verdict == cmp::Verdict::kEnvironmentChanged;
  if (moved && arguments.environment_fails) return kExitInconclusive;
  const bool open = moved || verdict == cmp::Verdict::kInconclusive;
  return open && arguments.fail_on == FailOn::kInconclusive ? kExitInconclusive : kExitDone;
}

void AddOutputOptions(CLI::App& verb, VerdictArguments& arguments) {
  verb.add_option("--format", arguments.format, "text, json (schema tutti.compare/1), md or html")
      ->transform(OneOf<VerdictFormat>({{"text", VerdictFormat::kText},
                                        {"json", VerdictFormat::kJson},
                                        {"md", VerdictFormat::kMarkdown},
                                        {"html", VerdictFormat::kHtml}}))
      ->envname("TUTTI_FORMAT")
      ->option_text("text|json|md|html");
  verb.add_option("--junit", arguments.junit, "Write JUnit XML: a case for each gate")
      ->option_text("FILE");
  verb.add_option("--summary", arguments.summary,
                  "Add Markdown to this file, such as $GITHUB_STEP_SUMMARY")
      ->option_text("FILE");
  verb.add_option("--metrics", arguments.metrics,
                  "Replace this file by OpenMetrics text (node-exporter's textfiles, GitLab)")
      ->option_text("FILE");
  verb.add_option("--html", arguments.html, "Replace this file by a page with charts")
      ->option_text("FILE");
}

void AddRuleOptions(CLI::App& verb, VerdictArguments& arguments) {
  cmp::CompareOptions& options = arguments.options;
  verb.add_option("--min-effect", arguments.min_effect,
                  "Changes below this share don't matter: 1%, 0.005")
      ->envname("TUTTI_MIN_EFFECT")
      ->capture_default_str()
      ->option_text("SHARE");
  verb.add_option("--alpha", options.rule.alpha,
                  "Chance of a false regression that is accepted, over all gates together")
      ->check(CLI::Range(1e-6, 0.2))
      ->envname("TUTTI_ALPHA")
      ->capture_default_str()
      ->option_text("P");
  verb.add_option("--gate", arguments.gates,
                  "Metric that decides (default: step_time and exposed_comm), with an effect of "
                  "its own if need be, memory_peak:5%; may be given more than once")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->option_text("METRIC[:SHARE]");
  verb.add_option("--pairing", options.pairing,
                  "Whether the k-th base and new run are a pair: auto looks whether they ran in "
                  "turns")
      ->transform(OneOf<cmp::Pairing>({{"auto", cmp::Pairing::kAuto},
                                       {"paired", cmp::Pairing::kPaired},
                                       {"unpaired", cmp::Pairing::kUnpaired}}))
      ->option_text("auto|paired|unpaired");
  verb.add_flag("--within-launch", options.within_launch,
                "Gate on one run against one, though noise between launches is not known");
  verb.add_flag("--force", options.force,
                "Compare runs that differ in GPU, world size, batch, torch version or workload");
}

void AddExitOptions(CLI::App& verb, VerdictArguments& arguments) {
  verb.add_option("--fail-on", arguments.fail_on,
                  "Exit 1 for a regression; with inconclusive also 4 for what can't be decided")
      ->transform(OneOf<FailOn>(
          {{"regression", FailOn::kRegression}, {"inconclusive", FailOn::kInconclusive}}))
      ->option_text("regression|inconclusive");
  verb.add_flag("--strict", arguments.strict,
                "Exit 5 if ranks are missing or more events were lost than --max-loss")
      ->envname("TUTTI_STRICT");
  verb.add_option("--max-loss", arguments.max_loss, "Lost events that --strict accepts")
      ->envname("TUTTI_MAX_LOSS")
      ->check(NotNegative())
      ->capture_default_str();
}

}  // namespace

Result<double> ParseShare(const std::string& option, const std::string& text) {
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
    return UsageError(option + " " + text + ": give a share such as 1% or 0.01");
  }
  return share;
}

void AddVerdictOptions(CLI::App& verb, VerdictArguments& arguments, Invocation& invocation) {
  AddRuleOptions(verb, arguments);
  AddOutputOptions(verb, arguments);
  invocation.formats.push_back({verb.get_option("--format"),
                                [&arguments] { return arguments.format == VerdictFormat::kJson; }});
  AddExitOptions(verb, arguments);
}

Status CompleteOptions(VerdictArguments& arguments) {
  cmp::CompareOptions& options = arguments.options;
  TUTTI_ASSIGN_OR_RETURN(options.rule.min_effect, ParseShare("--min-effect", arguments.min_effect));
  options.gates.clear();
  for (const std::string& gate : arguments.gates) {
    const size_t colon = gate.find(':');
    options.gates.push_back(gate.substr(0, colon));
    if (colon == std::string::npos) continue;
    TUTTI_ASSIGN_OR_RETURN(options.min_effects[options.gates.back()],
                           ParseShare("--gate " + gate + ":", gate.substr(colon + 1)));
  }
  return OkStatus();
}

Result<int> DeliverVerdict(const VerdictArguments& arguments, const Invocation& invocation,
                           const std::vector<cmp::NamedComparison>& comparisons) {
  const VerdictFormat format = invocation.json ? VerdictFormat::kJson : arguments.format;
  const bool colour = UseColor(invocation.color, STDOUT_FILENO);
  TUTTI_RETURN_IF_ERROR(WriteOutputs(arguments, format, colour, comparisons));
  return ExitCodeFor(arguments, comparisons);
}

void FailVerdict(const VerdictArguments& arguments, Invocation& invocation, const Status& status) {
  invocation.Fail(status);
  if (arguments.junit.empty()) return;
  const Status written = cmp::ReplaceFile(arguments.junit, cmp::RenderJUnitError(status.message()));
  if (!written.ok()) Complain(written.message());
}

}  // namespace tutti::cli
