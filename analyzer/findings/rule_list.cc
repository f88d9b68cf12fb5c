#include <array>
#include <string_view>

#include "analyzer/findings/rule.h"

namespace tutti::analyzer {

Status FindMismatches(RunContext& context, const FindingFacts& facts,
                      std::vector<FindingDraft>& drafts);
Status FindHangs(RunContext& context, const FindingFacts& facts, std::vector<FindingDraft>& drafts);
Status FindInputWait(RunContext& context, const FindingFacts& facts,
                     std::vector<FindingDraft>& drafts);
Status FindStragglers(RunContext& context, const FindingFacts& facts,
                      std::vector<FindingDraft>& drafts);
Status FindExposedComm(RunContext& context, const FindingFacts& facts,
                       std::vector<FindingDraft>& drafts);

std::span<const FindingRule> AllFindingRules() {
  static constexpr std::array<FindingRule, 5> kRules = {FindMismatches, FindHangs, FindInputWait,
                                                        FindStragglers, FindExposedComm};
  return kRules;
}

std::span<const std::string_view> AllFindingKinds() {
  static constexpr std::array<std::string_view, 6> kKinds = {
      "hang",      "collective_mismatch", "input_wait",
      "straggler", "comm_after_backward", "exposed_comm"};
  return kKinds;
}

}  // namespace tutti::analyzer
