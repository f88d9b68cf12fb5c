// Catalogue 8 on the CPU: operators so short that calling them takes longer than what they do.
//
// Bound per step: the time from the begin of each such operator to the begin of the next one on
// its thread, on the rank where that is most: the others wait for it. Where hardly any operator of
// a name is longer, those that are have been interrupted: they count in full.
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
constexpr int64_t kOneLonger = 100;  // of so many of a name is an exception

constexpr std::array kKinds = {
    FindingKind{
        "tiny_operators",
        "Operators on the CPU that are shorter than their call (catalogue 8, on the CPU).",
        "mean over steps of the longest sum of any rank, over operators of less than 10 µs, "
        "of the time until the next one begins, at most 20 µs each; where less than one in a "
        "hundred of a name is longer, of the whole time of all of them and at most 20 µs after "
        "each",
        "as above, and at least 500 a step: a small model's own step has some hundred",
        "foreach or fused optimizers, fewer and larger tensors (stack them, vectorize the "
        "loop), torch.compile, a larger batch"},
};

struct TinyOps {
  std::map<int64_t, double> cost_ns;  // by step
  int64_t count = 0;
  std::string most_frequent;
  int64_t most_count = 0;
};

// The outermost operators of one name in steps that count.
struct NameUse {
  int64_t count = 0;
  int64_t tiny = 0;
  std::map<int64_t, int64_t> tiny_ns;  // by step: what the short ones cost
  std::map<int64_t, int64_t> all_ns;   // what all do, if the long ones were interrupted

  void Add(int64_t step, int64_t duration_ns, int64_t gap_ns) {
    ++count;
    all_ns[step] += duration_ns + std::min(gap_ns, kLongestNs);
    if (duration_ns >= kTinyNs) return;
    ++tiny;
    tiny_ns[step] += std::min(duration_ns + gap_ns, kLongestNs);
  }
  bool LongOnesWereInterrupted() const { return (count - tiny) * kOneLonger < count; }
};

Result<std::vector<int64_t>> ComputeThreads(RunContext& context, int64_t rank) {
  TUTTI_ASSIGN_OR_RETURN(const auto lanes,
                         context.Read<schema::LaneRow>(
                             "WHERE rank = ?1 AND kind = 'thread' AND role = 'compute'", rank));
  std::vector<int64_t> threads;
  for (const schema::LaneRow& lane : lanes) threads.push_back(lane.id);
  return threads;
}

// By name.
Result<std::map<int64_t, NameUse>> UseOfNames(RunContext& context, RankTrace& trace,
                                              const schema::RankRow& rank) {
  std::map<int64_t, NameUse> names;
  TUTTI_ASSIGN_OR_RETURN(const auto threads, ComputeThreads(context, rank.rank));
  TUTTI_ASSIGN_OR_RETURN(const auto windows, ReadWindowsThatCount(context, rank.rank));
  if (threads.empty()) return names;
  const StepIndex index(windows);
  TUTTI_ASSIGN_OR_RETURN(const auto ops, trace.Ops());
  const OpEvent* last = nullptr;  // outermost on its thread
  const auto charge = [&](const OpEvent& op, int64_t until_ns) {
    const auto step = index.ByWindow(op.begin_ns);
    if (step) names[op.name_id].Add(*step, op.end_ns - op.begin_ns, until_ns - op.end_ns);
  };
  for (const OpEvent& op : ops) {
    if (std::find(threads.begin(), threads.end(), op.tid) == threads.end()) continue;
    if (last != nullptr && last->tid == op.tid && op.begin_ns < last->end_ns) continue;
    if (last != nullptr) charge(*last, last->tid == op.tid ? op.begin_ns : last->end_ns);
    last = &op;
  }
  if (last != nullptr) charge(*last, last->end_ns);
  return names;
}

Result<TinyOps> CountTinyOps(RunContext& context, const schema::RankRow& rank) {
  TUTTI_ASSIGN_OR_RETURN(RankTrace* const trace, context.Trace(rank));
  TUTTI_ASSIGN_OR_RETURN(const auto names, UseOfNames(context, *trace, rank));
  TinyOps tiny;
  for (const auto& [name_id, use] : names) {
    tiny.count += use.tiny;
    const auto& cost_ns = use.LongOnesWereInterrupted() ? use.all_ns : use.tiny_ns;
    for (const auto& [step, ns] : cost_ns) tiny.cost_ns[step] += static_cast<double>(ns);
    if (use.tiny <= tiny.most_count) continue;
    tiny.most_count = use.tiny;
    tiny.most_frequent = trace->Text(name_id);
  }
  return tiny;
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
                    "most of them " + worst.most_frequent + ", take " + Duration(cost.cost_ns);
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
