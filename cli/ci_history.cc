// tutti ci history: launches over months, and whether a new one fits.
#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/history/history.h"
#include "cli/choice.h"
#include "cli/ci.h"
#include "cli/open_launch.h"
#include "cli/verdict_options.h"

namespace tutti::cli {
namespace {

namespace cmp = analyzer::compare;
namespace his = analyzer::history;

enum class HistoryFormat { kText, kJson, kHtml };

// The options as they were typed, of all three verbs.
struct HistoryArguments {
  std::string file = "tutti-history.sqlite";
  std::vector<std::string> runs;
  std::string label;
  std::vector<std::string> metrics;
  HistoryFormat format = HistoryFormat::kText;
  std::string min_effect = "1%";
  double alpha = 0.01;
  FailOn fail_on = FailOn::kRegression;
};

Result<std::vector<const cmp::Metric*>> MetricsOf(const HistoryArguments& arguments) {
  std::vector<const cmp::Metric*> metrics;
  for (const std::string& name : arguments.metrics) {
    metrics.push_back(cmp::FindMetric(name));
    if (metrics.back() == nullptr) return UsageError("there is no metric \"" + name + "\"");
  }
  if (metrics.empty()) metrics = {cmp::FindMetric("step_time"), cmp::FindMetric("exposed_comm")};
  return metrics;
}

// Nanoseconds since the epoch, one apart for launches that don't tell their time.
int64_t NextTime() {
  static int64_t last_ns = 0;
  const auto now_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  last_ns = std::max(last_ns + 1, static_cast<int64_t>(now_ns));
  return last_ns;
}

Result<std::vector<his::StoredLaunch>> OpenStored(const HistoryArguments& arguments) {
  TUTTI_ASSIGN_OR_RETURN(const auto launches, OpenLaunches(arguments.runs));
  std::vector<his::StoredLaunch> stored;
  for (const cmp::Launch& launch : launches) {
    TUTTI_ASSIGN_OR_RETURN(his::StoredLaunch one,
                           his::ToStored(launch, arguments.label, NextTime()));
    stored.push_back(std::move(one));
  }
  return stored;
}

Status Add(const HistoryArguments& arguments) {
  TUTTI_ASSIGN_OR_RETURN(const auto launches, OpenStored(arguments));
  for (const his::StoredLaunch& launch : launches) {
    TUTTI_ASSIGN_OR_RETURN(const bool added, his::AddLaunch(arguments.file, launch));
    Complain(launch.name + (added ? ": added to " : ": is there already: ") + launch.series);
  }
  return OkStatus();
}

Status Show(const HistoryArguments& arguments, const Invocation& invocation) {
  TUTTI_ASSIGN_OR_RETURN(const auto metrics, MetricsOf(arguments));
  TUTTI_ASSIGN_OR_RETURN(const auto history, his::ReadHistory(arguments.file));
  std::vector<his::Trend> trends;
  for (const cmp::Metric* metric : metrics) {
    for (his::Trend& trend : his::FindTrends(history, *metric)) trends.push_back(std::move(trend));
  }
  std::ranges::stable_sort(trends, {}, &his::Trend::series);
  if (invocation.json || arguments.format == HistoryFormat::kJson) {
    return WriteOut(his::RenderTrendsJson(trends));
  }
  return WriteOut(arguments.format == HistoryFormat::kHtml ? his::RenderTrendsHtml(trends)
                                                           : his::RenderTrendsText(trends));
}

Result<std::vector<his::Checked>> CheckAll(const HistoryArguments& arguments) {
  TUTTI_ASSIGN_OR_RETURN(const auto metrics, MetricsOf(arguments));
  cmp::Rule rule;
  rule.alpha = arguments.alpha;
  TUTTI_ASSIGN_OR_RETURN(rule.min_effect, ParseShare("--min-effect", arguments.min_effect));
  TUTTI_ASSIGN_OR_RETURN(auto history, his::ReadHistory(arguments.file));
  TUTTI_ASSIGN_OR_RETURN(const auto launches, OpenStored(arguments));
  std::vector<his::Checked> checks;
  for (const his::StoredLaunch& launch : launches) {
    // It may have been added already: it is judged by those before it.
    std::vector<his::StoredLaunch> before;
    std::ranges::copy_if(history, std::back_inserter(before), [&](const his::StoredLaunch& one) {
      return one.series == launch.series && one.begin_ns < launch.begin_ns;
    });
    for (const cmp::Metric* metric : metrics) {
      if (!launch.values.contains(std::string(metric->name)) && arguments.metrics.empty()) continue;
      const auto trends = his::FindTrends(before, *metric);
      const his::Trend* trend = trends.empty() ? nullptr : &trends.front();
      checks.push_back({launch, metric, his::FitToTrend(trend, launch, *metric, rule)});
    }
  }
  return checks;
}

Result<int> Check(const HistoryArguments& arguments, const Invocation& invocation) {
  TUTTI_ASSIGN_OR_RETURN(const auto checks, CheckAll(arguments));
  const bool json = invocation.json || arguments.format == HistoryFormat::kJson;
  TUTTI_RETURN_IF_ERROR(
      WriteOut(json ? his::RenderChecksJson(checks) : his::RenderChecksText(checks)));
  const auto any = [&](cmp::Verdict verdict) {
    return std::ranges::any_of(
        checks, [verdict](const his::Checked& checked) { return checked.fit.verdict == verdict; });
  };
  if (any(cmp::Verdict::kRegression)) return kExitGateTripped;
  const bool open = any(cmp::Verdict::kInconclusive);
  return open && arguments.fail_on == FailOn::kInconclusive ? kExitInconclusive : kExitDone;
}

using Shared = std::shared_ptr<HistoryArguments>;

void AddFile(CLI::App& verb, HistoryArguments& arguments) {
  verb.add_option("--file", arguments.file, "The history: a file of SQLite")
      ->envname("TUTTI_HISTORY")
      ->capture_default_str()
      ->option_text("FILE");
}

void AddRuns(CLI::App& verb, HistoryArguments& arguments) {
  verb.add_option("runs", arguments.runs, "Runs, traces or files of step times")
      ->required()
      ->option_text("RUN...");
  verb.add_option("--label", arguments.label, "What the launches are of: a commit, a version")
      ->option_text("TEXT");
}

void AddMetric(CLI::App& verb, HistoryArguments& arguments) {
  verb.add_option("--metric", arguments.metrics,
                  "Metric (default: step_time and exposed_comm); may be given more than once")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->option_text("METRIC");
}

void AddFormat(CLI::App& verb, const Shared& arguments, Invocation& invocation, bool html) {
  std::vector<std::pair<std::string, HistoryFormat>> formats = {{"text", HistoryFormat::kText},
                                                                {"json", HistoryFormat::kJson}};
  if (html) formats.emplace_back("html", HistoryFormat::kHtml);
  verb.add_option("--format", arguments->format, html ? "text, json or html" : "text or json")
      ->transform(OneOf<HistoryFormat>(formats))
      ->option_text(html ? "text|json|html" : "text|json");
  invocation.formats.push_back({verb.get_option("--format"),
                                [arguments] { return arguments->format == HistoryFormat::kJson; }});
}

void AddHistoryAdd(CLI::App& history, Invocation& invocation) {
  const auto arguments = std::make_shared<HistoryArguments>();
  CLI::App* add = history.add_subcommand("add", "Keep what launches measured");
  AddRuns(*add, *arguments);
  AddFile(*add, *arguments);
  add->callback([arguments, &invocation] {
    if (const Status status = Add(*arguments); !status.ok()) invocation.Fail(status);
  });
}

void AddHistoryShow(CLI::App& history, Invocation& invocation) {
  const auto arguments = std::make_shared<HistoryArguments>();
  CLI::App* show = history.add_subcommand("show", "Levels over time, and where they changed");
  AddFile(*show, *arguments);
  AddMetric(*show, *arguments);
  AddFormat(*show, arguments, invocation, /*html=*/true);
  show->callback([arguments, &invocation] {
    if (const Status status = Show(*arguments, invocation); !status.ok()) invocation.Fail(status);
  });
}

void AddHistoryCheck(CLI::App& history, Invocation& invocation) {
  const auto arguments = std::make_shared<HistoryArguments>();
  CLI::App* check =
      history.add_subcommand("check", "Tell whether launches are slower than those before them");
  AddRuns(*check, *arguments);
  AddFile(*check, *arguments);
  AddMetric(*check, *arguments);
  check->add_option("--min-effect", arguments->min_effect, "Changes below this share don't matter")
      ->envname("TUTTI_MIN_EFFECT")
      ->capture_default_str()
      ->option_text("SHARE");
  check->add_option("--alpha", arguments->alpha, "Chance of a false regression, for each metric")
      ->check(CLI::Range(1e-6, 0.2))
      ->envname("TUTTI_ALPHA")
      ->capture_default_str()
      ->option_text("P");
  check
      ->add_option("--fail-on", arguments->fail_on,
                   "Exit 1 for a regression; with inconclusive also 4 for what can't be decided")
      ->transform(OneOf<FailOn>(
          {{"regression", FailOn::kRegression}, {"inconclusive", FailOn::kInconclusive}}))
      ->option_text("regression|inconclusive");
  AddFormat(*check, arguments, invocation, /*html=*/false);
  check->callback([arguments, &invocation] {
    const Result<int> exit_code = Check(*arguments, invocation);
    if (!exit_code.ok()) return invocation.Fail(exit_code.status());
    invocation.exit_code = *exit_code;
  });
}

}  // namespace

void AddCiHistory(CLI::App& ci, Invocation& invocation) {
  CLI::App* history = ci.add_subcommand("history", "Launches over months: add, show, check");
  history->require_subcommand(1);
  AddHistoryAdd(*history, invocation);
  AddHistoryShow(*history, invocation);
  AddHistoryCheck(*history, invocation);
}

}  // namespace tutti::cli
