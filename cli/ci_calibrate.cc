// tutti ci calibrate: what effects this machine can tell from its own noise.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/choice.h"
#include "cli/ci.h"
#include "cli/open_launch.h"
#include "cli/verdict_options.h"

namespace tutti::cli {
namespace {

namespace cmp = analyzer::compare;

enum class CalibrationFormat { kText, kJson };

// The options as they were typed.
struct CalibrateArguments {
  std::vector<std::string> runs;
  std::string of;
  CampaignArguments campaign;
  CalibrationFormat format = CalibrationFormat::kText;
  std::string min_effect = "1%";
  cmp::CalibrationOptions options;
};

struct Arms {
  std::vector<cmp::Launch> base;
  std::vector<cmp::Launch> fresh;
};

// Launches in the order in which they ran, as pairs A B, B A, …: who of a pair is A changes, as
// in a campaign.
Result<Arms> PairUp(std::vector<cmp::Launch> launches) {
  if (launches.size() % 2 != 0) {
    return UsageError("an even number of runs is needed, for pairs; there are " +
                      std::to_string(launches.size()));
  }
  std::ranges::stable_sort(launches, {}, &cmp::Launch::begin_ns);
  Arms arms;
  for (size_t i = 0; i < launches.size(); i += 2) {
    const size_t base = i / 2 % 2;
    arms.base.push_back(std::move(launches[i + base]));
    arms.fresh.push_back(std::move(launches[i + 1 - base]));
  }
  return arms;
}

Result<Arms> RecordArms(const CalibrateArguments& arguments, const Invocation& invocation) {
  TUTTI_ASSIGN_OR_RETURN(const auto options, CampaignOptionsOf(arguments.campaign, arguments.of,
                                                               arguments.of, invocation.command));
  TUTTI_ASSIGN_OR_RETURN(const auto campaign, collector::campaign::RunCampaign(options));
  Arms arms;
  TUTTI_ASSIGN_OR_RETURN(arms.base, OpenLaunches(campaign.base));
  TUTTI_ASSIGN_OR_RETURN(arms.fresh, OpenLaunches(campaign.fresh));
  return arms;
}

Result<Arms> ArmsOf(const CalibrateArguments& arguments, const Invocation& invocation) {
  if (arguments.runs.empty() == arguments.of.empty()) {
    return UsageError("give either runs of one version, or --of what is to be recorded");
  }
  if (!arguments.of.empty()) return RecordArms(arguments, invocation);
  TUTTI_ASSIGN_OR_RETURN(auto launches, OpenLaunches(arguments.runs));
  return PairUp(std::move(launches));
}

Status Calibrate(CalibrateArguments& arguments, const Invocation& invocation) {
  TUTTI_ASSIGN_OR_RETURN(arguments.options.compare.rule.min_effect,
                         ParseShare("--min-effect", arguments.min_effect));
  TUTTI_ASSIGN_OR_RETURN(Arms arms, ArmsOf(arguments, invocation));
  TUTTI_ASSIGN_OR_RETURN(
      const cmp::Calibration calibration,
      cmp::Calibrate(std::move(arms.base), std::move(arms.fresh), arguments.options));
  const bool json = invocation.json || arguments.format == CalibrationFormat::kJson;
  return WriteOut(json ? cmp::RenderCalibrationJson(calibration)
                       : cmp::RenderCalibrationText(calibration));
}

void AddRule(CLI::App& verb, CalibrateArguments& arguments) {
  verb.add_option("--min-effect", arguments.min_effect,
                  "The effect that comparisons are run with now, whose false alarms are counted")
      ->envname("TUTTI_MIN_EFFECT")
      ->capture_default_str()
      ->option_text("SHARE");
  verb.add_option("--comparison-pairs", arguments.options.pairs,
                  "Pairs that comparisons are run with now")
      ->check(CLI::Range(2, 1000))
      ->capture_default_str()
      ->option_text("K");
  verb.add_option("--most-pairs", arguments.options.most_pairs,
                  "Pairs that the proposal may take at most")
      ->check(CLI::Range(6, 1000))
      ->capture_default_str()
      ->option_text("K");
  verb.add_option("--alpha", arguments.options.compare.rule.alpha,
                  "Chance of a false regression that is accepted, over all gates together")
      ->check(CLI::Range(1e-6, 0.2))
      ->envname("TUTTI_ALPHA")
      ->capture_default_str()
      ->option_text("P");
  verb.add_option("--gate", arguments.options.compare.gates,
                  "Metric that decides (default: step_time and exposed_comm); may be given more "
                  "than once")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->option_text("METRIC");
}

}  // namespace

void AddCiCalibrate(CLI::App& ci, Invocation& invocation) {
  const auto arguments = std::make_shared<CalibrateArguments>();
  arguments->campaign.output = "tutti-calibration";
  arguments->campaign.pairs = 12;
  CLI::App* verb = ci.add_subcommand(
      "calibrate", "Measure the machine's noise on one version, propose --min-effect and --pairs");
  verb->add_option("runs", arguments->runs, "Recorded runs of one version, in any order")
      ->option_text("RUN...");
  verb->add_option("--of", arguments->of,
                   "What to record: a program, a folder, a git revision or sh:COMMAND")
      ->option_text("SIDE");
  AddCampaignOptions(*verb, arguments->campaign);
  AddRule(*verb, *arguments);
  verb->add_option("--format", arguments->format, "text or json (schema tutti.calibration/1)")
      ->transform(OneOf<CalibrationFormat>(
          {{"text", CalibrationFormat::kText}, {"json", CalibrationFormat::kJson}}))
      ->option_text("text|json");
  invocation.formats.push_back({verb->get_option("--format"), [arguments] {
                                  return arguments->format == CalibrationFormat::kJson;
                                }});
  verb->callback([arguments, &invocation] {
    if (const Status status = Calibrate(*arguments, invocation); !status.ok()) {
      invocation.Fail(status);
    }
  });
}

}  // namespace tutti::cli
