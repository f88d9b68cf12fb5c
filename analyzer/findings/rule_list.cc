#include <array>
#include <string>

#include "analyzer/findings/catalogue.h"
#include "analyzer/findings/rule.h"

namespace tutti::analyzer {

extern const FindingRule kCollectiveMismatchRule;
extern const FindingRule kHangRule;
extern const FindingRule kInputWaitRule;
extern const FindingRule kAllocationRule;
extern const FindingRule kCpuLoadRule;
extern const FindingRule kTinyOperatorsRule;
extern const FindingRule kSyncRule;
extern const FindingRule kCopyRule;
extern const FindingRule kPipelineRule;
extern const FindingRule kPauseRule;
extern const FindingRule kSlowGpuRule;
extern const FindingRule kDataImbalanceRule;
extern const FindingRule kStragglerRule;
extern const FindingRule kShapeChurnRule;
extern const FindingRule kBackendRule;
extern const FindingRule kExpertSkewRule;
extern const FindingRule kAfterBackwardRule;
extern const FindingRule kLowBandwidthRule;
extern const FindingRule kCollectiveUseRule;
extern const FindingRule kExposedCommRule;
extern const FindingRule kRecomputeRule;
extern const FindingRule kHostBoundRule;
extern const FindingRule kKernelRule;
extern const FindingRule kKernelUseRule;
extern const FindingRule kWarmUpRule;
extern const FindingRule kMemoryRule;

std::span<const FindingRule* const> AllFindingRules() {
  static constexpr std::array<const FindingRule*, 26> kRules = {&kCollectiveMismatchRule,
                                                                &kHangRule,
                                                                &kInputWaitRule,
                                                                &kAllocationRule,
                                                                &kCpuLoadRule,
                                                                &kTinyOperatorsRule,
                                                                &kSyncRule,
                                                                &kCopyRule,
                                                                &kPipelineRule,
                                                                &kPauseRule,
                                                                &kSlowGpuRule,
                                                                &kDataImbalanceRule,
                                                                &kStragglerRule,
                                                                &kShapeChurnRule,
                                                                &kBackendRule,
                                                                &kExpertSkewRule,
                                                                &kAfterBackwardRule,
                                                                &kLowBandwidthRule,
                                                                &kCollectiveUseRule,
                                                                &kExposedCommRule,
                                                                &kRecomputeRule,
                                                                &kHostBoundRule,
                                                                &kKernelRule,
                                                                &kKernelUseRule,
                                                                &kWarmUpRule,
                                                                &kMemoryRule};
  return kRules;
}

std::vector<FindingKind> AllFindingKinds() {
  std::vector<FindingKind> kinds;
  for (const FindingRule* rule : AllFindingRules()) {
    kinds.insert(kinds.end(), rule->kinds.begin(), rule->kinds.end());
  }
  return kinds;
}

std::vector<std::string_view> AllFindingKindNames() {
  std::vector<std::string_view> names;
  for (const FindingKind& kind : AllFindingKinds()) names.push_back(kind.kind);
  return names;
}

std::string FindingsDocument() {
  std::string text =
      "# Findings\n"
      "\n"
      "What `tutti report` looks for. Each finding gives a *bound* of what its removal saves per\n"
      "step (by the formula below), where a replay can tell also what it saves there\n"
      "([metrics.md](metrics.md#what-if)), the ranks and steps that show it, the rows that are "
      "its\n"
      "evidence, and how sure it is. A cost must exceed 5 % of a step and its own noise unless\n"
      "the table says otherwise: below 5 % nobody changes a program for it, and a shared\n"
      "machine's noise reaches 2 to 3 %. A cost below 10 % has to be confirmed by a replay,\n"
      "where there is one, that saves 5 % without it. The noise is that of the mean over five\n"
      "to ten batches of steps, exceeded by chance as seldom as three standard errors are\n"
      "(0.27 %, by Student's t). What one finding takes, the ones below leave out. Findings\n"
      "are ranked by what their removal saves, replayed where that is known; what stopped the\n"
      "job comes first.\n"
      "\n"
      "This page is generated from the rules (`analyzer/findings/`), and a test compares them.\n";
  for (const FindingKind& kind : AllFindingKinds()) {
    text += "\n## " + std::string(kind.kind) + "\n\n" + std::string(kind.catalogue) + "\n\n";
    text += "- *Bound:* " + std::string(kind.formula) + ".\n";
    text += "- *Told:* " + std::string(kind.threshold) + ".\n";
    text += "- *Do:* " + std::string(kind.advice) + ".\n";
  }
  return text + CatalogueTables();
}

}  // namespace tutti::analyzer
