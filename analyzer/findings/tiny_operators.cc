// Catalogue 8 on the CPU: operators so short that calling them takes longer than what they do.
//
// Bound per step: the time from the begin of each such operator to the begin of the next one on
// its thread, on the rank where that is most: the others wait for it.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "analyzer/findings/rule.h"
#include "analyzer/input/step_index.h"

namespace tutti::analyzer {
namespace {

constexpr int64_t kTinyNs = 10'000;     // dispatch takes some microseconds
constexpr int64_t kLongestNs = 20'000;  // that a call is charged: more is not its dispatch
constexpr int64_t kManyPerStep = 500;

constexpr std::array kKinds = {
    FindingKind{
        "tiny_operators",
        "Operators on the CPU that are shorter than their call (catalogue 8, on the CPU).",
        "mean over steps of the longest sum of any rank, over operators of less than 10 µs, "
        "of the time until the next one begins, at most 20 µs each",
        "as above, and at least 500 a step: a small model's own step has some hundred",
        "foreach or fused optimizers, fewer and larger tensors (stack them, vectorize the "
        "loop), torch.compile, a larger batch"},
};

struct TinyOps {
  std::map<int64_t, double> cost_ns;  // by step
  std::map<std::string, int64_t> count_by_name;
  int64_t count = 0;
};

Result<std::vector<int64_t>> ComputeThreads(RunContext& context, int64_t rank) {
  TUTTI_ASSIGN_OR_RETURN(const auto lanes,
                         context.Read<schema::LaneRow>(
                             "WHERE rank = ?1 AND kind = 'thread' AND role = 'compute'", rank));
  std::vector<int64_t> threads;
  for (const schema::LaneRow& lane : lanes) threads.push_back(lane.id);
  return threads;
}

Result<TinyOps> CountTinyOps(RunContext& context, const schema::RankRow& rank) {
  TinyOps tiny;
  TUTTI_ASSIGN_OR_RETURN(const auto threads, ComputeThreads(context, rank.rank));
  TUTTI_ASSIGN_OR_RETURN(const auto windows, ReadWindowsThatCount(context, rank.rank));
  if (threads.empty()) return tiny;
  const StepIndex index(windows);
  TUTTI_ASSIGN_OR_RETURN(RankTrace* const trace, context.Trace(rank));
  TUTTI_ASSIGN_OR_RETURN(const auto ops, trace->Ops());
  const OpEvent* last = nullptr;  // outermost on its thread
  const auto charge = [&](const OpEvent& op, int64_t until_ns) {
    if (op.end_ns - op.begin_ns >= kTinyNs) return;
    const auto step = index.ByWindow(op.begin_ns);
    if (!step) return;
    tiny.cost_ns[*step] += static_cast<double>(std::min(until_ns - op.begin_ns, kLongestNs));
    ++tiny.count_by_name[trace->Text(op.name_id)];
    ++tiny.count;
  };
  for (const OpEvent& op : ops) {
    if (std::find(threads.begin(), threads.end(), op.tid) == threads.end()) continue;
    if (last != nullptr && last->tid == op.tid && op.begin_ns < last->end_ns) continue;
    if (last != nullptr) charge(*last, last->tid == op.tid ? op.begin_ns : last->end_ns);
    last = &op;
  }
  if (last != nullptr) charge(*last, last->end_ns);
  return tiny;
}

std::string MostFrequent(const TinyOps& tiny) {
  const auto most =
      std::max_element(tiny.count_by_name.begin(), tiny.count_by_name.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == tiny.count_by_name.end() ? "" : most->first;
}

Status FindTinyOps(RunContext& context, const FindingFacts& facts,
                   std::vector<FindingDraft>& drafts) {
  const auto steps = static_cast<int64_t>(facts.counted.steps.size());
  if (facts.OnGpus() || steps == 0) return OkStatus();
  std::vector<double> per_step(facts.counted.steps.size(), 0);
  TinyOps worst;
  std::vector<int64_t> ranks;
  for (const schema::RankRow& rank : facts.ranks) {
    TUTTI_ASSIGN_OR_RETURN(TinyOps tiny, CountTinyOps(context, rank));
    if (tiny.count < kManyPerStep * steps) continue;
    ranks.push_back(rank.rank);
    for (size_t i = 0; i < per_step.size(); ++i) {
      const auto cost = tiny.cost_ns.find(facts.counted.steps[i].step);
      if (cost != tiny.cost_ns.end()) per_step[i] = std::max(per_step[i], cost->second);
    }
    if (tiny.count > worst.count) worst = std::move(tiny);
  }
  const CostOfSteps cost = CostOver(facts, per_step);
  if (ranks.empty() || !IsWorthwhile(facts, cost)) return OkStatus();
  FindingDraft draft = DraftOf(kKinds[0], facts, cost);
  draft.ranks = ranks;
  draft.row.title = std::to_string(worst.count / steps) + " operators a step of less than 10 µs, " +
                    "most of them " + MostFrequent(worst) + ", take " + Duration(cost.cost_ns);
  if (ranks.size() < facts.ranks.size()) draft.row.title += " on " + RankList(ranks);
  draft.row.cause = "tiny_operators";
  draft.row.advice = kKinds[0].advice;
  for (size_t i = 0; i < per_step.size() && draft.evidence.size() < 5; ++i) {
    if (std::llround(per_step[i]) < cost.cost_ns) continue;
    draft.evidence.push_back(
        StepEvidence(facts, facts.counted.steps[i].step, ranks.front(),
                     Duration(std::llround(per_step[i])) + " in operators of less than 10 µs"));
  }
  drafts.push_back(std::move(draft));
  return OkStatus();
}

}  // namespace

extern const FindingRule kTinyOperatorsRule;
const FindingRule kTinyOperatorsRule{kKinds, FindTinyOps};

}  // namespace tutti::analyzer
