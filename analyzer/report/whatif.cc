// Answers to what-if questions for a terminal and as JSON (tutti.whatif/1).
#include "analyzer/replay/whatif.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analyzer/report/format.h"
#include "common/text.h"

namespace tutti::analyzer {
namespace {

constexpr size_t kMostParts = 12;

double ErrorOf(const WhatIfModel& model) {
  if (model.measured_ns() == 0) return 0;
  return static_cast<double>(model.unchanged_ns() - model.measured_ns()) /
         static_cast<double>(model.measured_ns());
}

std::string Ms(int64_t ns) { return Milliseconds(static_cast<double>(ns)); }

std::string PathTable(const WhatIfModel& model) {
  std::vector<std::vector<std::string>> rows = {{"rank", "part", "ms per step", "share"}};
  const std::vector<CriticalPart> parts = model.CriticalPath();
  for (size_t i = 0; i < std::min(parts.size(), kMostParts); ++i) {
    rows.push_back(
        {std::to_string(parts[i].rank), parts[i].part, Ms(parts[i].ns),
         PercentOf(static_cast<double>(parts[i].ns), static_cast<double>(model.unchanged_ns()))});
  }
  std::string text = "\nCritical path  what a step waits for, each moment once\n" + Table(rows, 2);
  if (parts.size() > kMostParts) {
    text += "  and " + std::to_string(parts.size() - kMostParts) + " more in critical_path\n";
  }
  return text;
}

std::string Text(const WhatIfModel& model, const std::vector<WhatIfAnswer>& answers) {
  std::string text =
      "A step takes " + Ms(model.unchanged_ns()) + " ms, mean of " + std::to_string(model.steps()) +
      " steps, " + std::to_string(model.first_step()) + " to " + std::to_string(model.last_step()) +
      "; replayed unchanged it is off by " + PercentOf(ErrorOf(model), 1) + "\n\n";
  std::vector<std::vector<std::string>> rows = {{"what if", "step ms", "saves ms", "share"}};
  for (const WhatIfAnswer& answer : answers) {
    rows.push_back({ToPrintableText(answer.scenario), Ms(answer.step_ns), Ms(answer.saved_ns),
                    PercentOf(answer.share, 1)});
  }
  return text + Table(rows, 1) + PathTable(model);
}

std::string Json(const WhatIfModel& model, const std::vector<WhatIfAnswer>& answers) {
  nlohmann::ordered_json json;
  json["schema"] = "tutti.whatif/1";
  json["steps"] = {
      {"count", model.steps()}, {"first", model.first_step()}, {"last", model.last_step()}};
  json["measured_ns"] = model.measured_ns();
  json["unchanged_ns"] = model.unchanged_ns();
  json["error_frac"] = ErrorOf(model);
  json["scenarios"] = nlohmann::ordered_json::array();
  for (const WhatIfAnswer& answer : answers) {
    json["scenarios"].push_back({{"scenario", ToStorableText(answer.scenario)},
                                 {"step_ns", answer.step_ns},
                                 {"saved_ns", answer.saved_ns},
                                 {"share", answer.share}});
  }
  json["critical_path"] = nlohmann::ordered_json::array();
  for (const CriticalPart& part : model.CriticalPath()) {
    json["critical_path"].push_back({{"rank", part.rank}, {"part", part.part}, {"ns", part.ns}});
  }
  return json.dump(2) + "\n";
}

}  // namespace

Result<std::string> RenderWhatIf(const WhatIfModel& model,
                                 const std::vector<std::vector<std::string>>& questions,
                                 WhatIfFormat format) {
  std::vector<WhatIfAnswer> answers;
  for (const auto& words : questions.empty() ? model.UsualQuestions() : questions) {
    TUTTI_ASSIGN_OR_RETURN(WhatIfAnswer answer, model.Ask(words));
    answers.push_back(std::move(answer));
  }
  std::stable_sort(
      answers.begin(), answers.end(),
      [](const WhatIfAnswer& a, const WhatIfAnswer& b) { return a.saved_ns > b.saved_ns; });
  return format == WhatIfFormat::kJson ? Json(model, answers) : Text(model, answers);
}

}  // namespace tutti::analyzer
