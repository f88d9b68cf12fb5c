// Catalogue 37, first part: ranks that issue different operations, sizes or types as the
// same collective. The first one is the cause; what follows it is out of step.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "analyzer/findings/collective_text.h"
#include "analyzer/findings/rule.h"
#include "analyzer/metrics/stack_frames.h"

namespace tutti::analyzer {
namespace {

// What a rank issued.
struct Issued {
  int64_t rank = 0;
  std::string op;
  std::string dtype;
  std::string size;  // shapes where they are known, else bytes
  std::string frame;
  int64_t source_id = 0;
  int64_t seen_before = 0;  // calls of the rank before it that are alike, in the same group

  std::string Text() const {
    return op + (dtype.empty() ? "" : " " + dtype) + (size.empty() ? "" : " " + size);
  }
};

// In the order in which they were issued, which is not that of their ids.
Result<std::vector<schema::CollectiveRow>> Mismatched(RunContext& context) {
  return context.Read<schema::CollectiveRow>(
      "WHERE state = 'mismatched' ORDER BY (SELECT min(coalesce(k.enqueue_ns, k.arrival_ns))"
      " FROM collective_call AS k WHERE k.collective_id = id), sequence, id");
}

int64_t CallsAlike(std::span<const CollectiveEvent> events, const CollectiveEvent& event) {
  return std::count_if(events.begin(), events.end(), [&](const CollectiveEvent& e) {
    return e.row.communicator_id == event.row.communicator_id && e.op == event.op &&
           e.row.bytes == event.row.bytes && e.row.shapes_id == event.row.shapes_id &&
           e.row.sequence < event.row.sequence;
  });
}

Result<std::vector<Issued>> WhatRanksIssued(RunContext& context, const FindingFacts& facts,
                                            const schema::CollectiveRow& collective) {
  TUTTI_ASSIGN_OR_RETURN(const auto calls,
                         context.Read<schema::CollectiveCallRow>(
                             "WHERE collective_id = ?1 ORDER BY rank", collective.id));
  std::vector<Issued> all;
  for (const schema::CollectiveCallRow& call : calls) {
    const auto rank = std::find_if(facts.ranks.begin(), facts.ranks.end(),
                                   [&](const auto& r) { return r.rank == call.rank; });
    TUTTI_ASSIGN_OR_RETURN(RankTrace* const trace, context.Trace(*rank));
    TUTTI_ASSIGN_OR_RETURN(const auto events, trace->Collectives());
    const auto event = std::find_if(events.begin(), events.end(), [&](const CollectiveEvent& e) {
      return e.row.id == call.source_id;
    });
    if (event == events.end()) continue;
    Issued issued{call.rank, event->op,     event->dtype, trace->Text(event->row.shapes_id),
                  "",        call.source_id};
    if (issued.size.empty() && event->row.bytes) {
      issued.size = std::to_string(*event->row.bytes) + " bytes";
    }
    issued.seen_before = CallsAlike(events, *event);
    issued.frame = FrameToShow(trace->Text(event->row.stack_id));
    all.push_back(std::move(issued));
  }
  return all;
}

const char* KindOf(const std::vector<Issued>& all) {
  const auto differs = [&](auto field) {
    return std::any_of(all.begin(), all.end(), [&](const Issued& i) {
      const std::string& first = all.front().*field;
      return i.*field != first && !(i.*field).empty() && !first.empty();  // "" is not known
    });
  };
  if (differs(&Issued::op)) return "op";
  return differs(&Issued::dtype) ? "dtype" : "size";
}

// Odd ranks first: they are what the reader looks for. Usual is what most ranks issued; of two
// halves the one that had issued the like before.
void Compare(const std::vector<Issued>& all, FindingDraft& draft) {
  std::map<std::string, std::vector<int64_t>> ranks_by_text;
  std::map<std::string, int64_t> seen_before;
  for (const Issued& issued : all) {
    ranks_by_text[issued.Text()].push_back(issued.rank);
    seen_before[issued.Text()] += issued.seen_before;
  }
  const auto most = std::max_element(ranks_by_text.begin(), ranks_by_text.end(),
                                     [&](const auto& a, const auto& b) {
                                       return std::pair(a.second.size(), seen_before.at(a.first)) <
                                              std::pair(b.second.size(), seen_before.at(b.first));
                                     });
  std::string usual = " " + RankList(most->second) + " issued " + most->first;
  for (const auto& [text, ranks] : ranks_by_text) {
    if (text == most->first) continue;
    draft.row.title += " " + RankList(ranks) + " issued " + text + ";";
    draft.ranks.insert(draft.ranks.end(), ranks.begin(), ranks.end());
  }
  draft.row.title += usual;
  std::sort(draft.ranks.begin(), draft.ranks.end());
}

schema::FindingEvidenceRow EvidenceOf(const Issued& issued) {
  schema::FindingEvidenceRow row;
  row.rank = issued.rank;
  row.source = "collective_source";
  row.row_id = issued.source_id;
  row.note = "issued " + issued.Text();
  if (!issued.frame.empty()) row.note += " in " + issued.frame;
  return row;
}

Status FindMismatches(RunContext& context, const FindingFacts& facts,
                      std::vector<FindingDraft>& drafts) {
  TUTTI_ASSIGN_OR_RETURN(const auto rows, Mismatched(context));
  if (rows.empty()) return OkStatus();
  const schema::CollectiveRow& first = rows.front();
  TUTTI_ASSIGN_OR_RETURN(const std::vector<Issued> all, WhatRanksIssued(context, facts, first));
  if (all.empty()) return OkStatus();
  FindingDraft draft;
  TUTTI_ASSIGN_OR_RETURN(const std::string name, CollectiveName(context, first));
  draft.row.kind = "collective_mismatch";
  draft.row.cause = KindOf(all);
  draft.row.title = "ranks disagree on the " + *draft.row.cause + " of " + name + ":";
  Compare(all, draft);
  draft.row.confidence = "high";
  draft.row.reason = std::to_string(rows.size()) + " collectives differ; the first is the cause";
  draft.row.formula = "none: the result is wrong or the job stops";
  draft.row.advice = "make every rank issue the same collectives with the same shapes and types";
  draft.row.first_step = first.step;
  draft.row.last_step = rows.back().step;
  draft.row.steps_seen = static_cast<int64_t>(rows.size());
  schema::FindingEvidenceRow evidence;
  evidence.source = "collective";
  evidence.row_id = first.id;
  evidence.note = "the first that differs";
  if (rows.size() > 1) {
    evidence.note += "; " + std::to_string(rows.size() - 1) + " more differ behind it";
  }
  draft.evidence.push_back(std::move(evidence));
  for (const Issued& issued : all) {
    const bool is_odd = std::binary_search(draft.ranks.begin(), draft.ranks.end(), issued.rank);
    if (is_odd) draft.evidence.push_back(EvidenceOf(issued));
  }
  drafts.push_back(std::move(draft));
  return OkStatus();
}

constexpr std::array kKinds = {
    FindingKind{"collective_mismatch",
                "Ranks issue different operations, sizes or types as the same collective "
                "(catalogue 37).",
                "none: the result is wrong or the job stops", "always: nothing else matters then",
                "make every rank issue the same collectives with the same shapes and types"},
};

}  // namespace

extern const FindingRule kCollectiveMismatchRule;
const FindingRule kCollectiveMismatchRule{kKinds, FindMismatches};

}  // namespace tutti::analyzer
