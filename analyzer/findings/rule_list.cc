#include <array>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {

Status FindHangs(RunContext& context, const FindingFacts& facts, std::vector<FindingDraft>& drafts);
Status FindInputWait(RunContext& context, const FindingFacts& facts,
                     std::vector<FindingDraft>& drafts);
Status FindStragglers(RunContext& context, const FindingFacts& facts,
                      std::vector<FindingDraft>& drafts);
Status FindExposedComm(RunContext& context, const FindingFacts& facts,
                       std::vector<FindingDraft>& drafts);

std::span<const FindingRule> AllFindingRules() {
  static constexpr std::array<FindingRule, 4> kRules = {FindHangs, FindInputWait, FindStragglers,
                                                        FindExposedComm};
  return kRules;
}

}  // namespace tutti::analyzer
