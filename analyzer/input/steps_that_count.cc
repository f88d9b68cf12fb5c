#include "analyzer/input/steps_that_count.h"

namespace tutti::analyzer {

std::map<int64_t, size_t> StepsThatCount::Places() const {
  std::map<int64_t, size_t> places;
  for (const schema::RunStepRow& step : steps) places.emplace(step.step, places.size());
  return places;
}

Result<StepsThatCount> ReadStepsThatCount(RunContext& context) {
  struct Choice {
    const char* basis;
    const char* condition;
  };
  constexpr Choice kChoices[] = {{"steady", "is_steady = 1"},
                                 {"complete", "is_partial = 0 AND tag = 'train'"},
                                 {"all", "1 = 1"}};
  StepsThatCount chosen;
  for (const Choice& choice : kChoices) {
    const std::string where = "WHERE " + std::string(choice.condition) + " ORDER BY step";
    TUTTI_ASSIGN_OR_RETURN(chosen.steps, context.Read<schema::RunStepRow>(where));
    chosen.basis = choice.basis;
    chosen.condition = choice.condition;
    if (!chosen.steps.empty()) break;
  }
  return chosen;
}

Result<std::vector<schema::StepWindowRow>> ReadWindowsThatCount(RunContext& context, int64_t rank) {
  TUTTI_ASSIGN_OR_RETURN(const StepsThatCount chosen, ReadStepsThatCount(context));
  const std::map<int64_t, size_t> places = chosen.Places();
  TUTTI_ASSIGN_OR_RETURN(
      auto windows, context.Read<schema::StepWindowRow>("WHERE rank = ?1 ORDER BY step", rank));
  std::erase_if(windows, [&](const auto& window) { return !places.contains(window.step); });
  return windows;
}

}  // namespace tutti::analyzer
