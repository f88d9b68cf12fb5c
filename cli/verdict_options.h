// Options that every verb with a verdict has: by what rule, where it is written, what exit code it
// has.
#pragma once

#include <string>
#include <vector>

#include "analyzer/compare/compare.h"
#include "cli/verb.h"
#include "common/status.h"

namespace tutti::cli {

enum class VerdictFormat { kText, kJson, kMarkdown, kHtml };
enum class FailOn { kRegression, kInconclusive };

// The options as they were typed.
struct VerdictArguments {
  VerdictFormat format = VerdictFormat::kText;
  analyzer::compare::CompareOptions options;
  std::string min_effect = "1%";
  std::vector<std::string> gates;  // METRIC or METRIC:SHARE
  FailOn fail_on = FailOn::kRegression;
  // A control that moved has an exit code of its own, whatever else is asked for.
  bool environment_fails = false;
  std::string junit;
  std::string summary;
  std::string html;
  std::string metrics;
  bool strict = false;
  int64_t max_loss = 0;
};

// "1%" or "0.01" of the option of that name.
Result<double> ParseShare(const std::string& option, const std::string& text);

// `arguments` must outlive the application.
void AddVerdictOptions(CLI::App& verb, VerdictArguments& arguments, Invocation& invocation);

// Once all options are known, before anything is compared.
Status CompleteOptions(VerdictArguments& arguments);

// Writes all that was asked for; the exit code.
Result<int> DeliverVerdict(const VerdictArguments& arguments, const Invocation& invocation,
                           const std::vector<analyzer::compare::NamedComparison>& comparisons);

// There is no verdict because of `status`: the exit code is set, the JUnit file says so.
void FailVerdict(const VerdictArguments& arguments, Invocation& invocation, const Status& status);

}  // namespace tutti::cli
