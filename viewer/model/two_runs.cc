#include "viewer/model/two_runs.h"

#include <algorithm>
#include <utility>

#include "viewer/model/alignment.h"

namespace tutti::viewer {
namespace {

void Move(const TimeMap& map, int64_t* begin_ns, int64_t* end_ns) {
  const int64_t duration = *end_ns - *begin_ns;
  *begin_ns = map(*begin_ns);
  *end_ns = *begin_ns + duration;
}

void Move(const TimeMap& map, std::optional<int64_t>* time_ns) {
  if (time_ns->has_value()) *time_ns = map(**time_ns);
}

// What makes one run's rows rows of both.
class Mover {
 public:
  Mover(const TimeMap& times, std::vector<int64_t> step_of, int64_t first_rank, int64_t first_id)
      : times_(times), step_of_(std::move(step_of)), first_rank_(first_rank), first_id_(first_id) {}

  void Apply(RunSummary* run, const char* letter) const {
    for (schema::RankRow& rank : run->ranks) {
      rank.rank += first_rank_;
      Move(times_, &rank.begin_ns, &rank.end_ns);
    }
    for (schema::StepWindowRow& window : run->windows) {
      window.rank += first_rank_;
      window.step = Step(window.step);
      Move(times_, &window.begin_ns, &window.end_ns);
      Move(times_, &window.host_begin_ns, &window.host_end_ns);
    }
    for (schema::StepBreakdownRow& row : run->breakdowns) {
      row.rank += first_rank_;
      row.step = Step(row.step);
    }
    for (schema::DataIssueRow& issue : run->issues) {
      Rank(&issue.rank);
      Move(times_, &issue.begin_ns);
      Move(times_, &issue.end_ns);
      issue.name = std::string(letter) + ": " + issue.name;
    }
    for (Finding& finding : run->findings) MoveFinding(&finding, letter);
    for (schema::RunCommunicatorRow& row : run->communicators) row.id += first_id_;
    for (Collective& collective : run->collectives) MoveCollective(&collective);
    decltype(run->lane_roles) roles;
    for (auto& [key, role] : run->lane_roles) {
      const auto& [rank, device, lane] = key;
      roles.emplace(std::tuple(rank + first_rank_, device, lane), std::move(role));
    }
    run->lane_roles = std::move(roles);
    run->begin_ns = times_(run->begin_ns);
    run->end_ns = times_(run->end_ns);
  }

 private:
  int64_t Step(int64_t step) const {
    return step >= 0 && step < static_cast<int64_t>(step_of_.size())
               ? step_of_[static_cast<size_t>(step)]
               : step;
  }
  void Step(std::optional<int64_t>* step) const {
    if (step->has_value()) *step = Step(**step);
  }
  void Rank(std::optional<int64_t>* rank) const {
    if (rank->has_value()) **rank += first_rank_;
  }

  void MoveFinding(Finding* finding, const char* letter) const {
    finding->row.title = std::string(letter) + ": " + finding->row.title;
    Step(&finding->row.first_step);
    Step(&finding->row.last_step);
    for (int64_t& rank : finding->ranks) rank += first_rank_;
    for (schema::FindingEvidenceRow& row : finding->evidence) {
      Rank(&row.rank);
      Move(times_, &row.begin_ns);
      Move(times_, &row.end_ns);
      if (row.source == "collective" && row.row_id) *row.row_id += first_id_;
      if (row.source == "step_breakdown") Step(&row.row_id);
    }
  }

  void MoveCollective(Collective* collective) const {
    collective->row.id += first_id_;
    if (collective->row.communicator_id) *collective->row.communicator_id += first_id_;
    Step(&collective->row.step);
    Move(times_, &collective->row.ready_ns);
    Rank(&collective->row.last_rank);
    for (schema::CollectiveCallRow& call : collective->calls) {
      call.collective_id += first_id_;
      call.rank += first_rank_;
      Step(&call.step);
      MoveCall(&call);
    }
  }

  // A call keeps its lengths: its times move with its begin.
  void MoveCall(schema::CollectiveCallRow* call) const {
    const std::optional<int64_t> begin = call->enqueue_ns   ? call->enqueue_ns
                                         : call->arrival_ns ? call->arrival_ns
                                                            : call->end_ns;
    if (!begin) return;
    const int64_t shift = times_(*begin) - *begin;
    for (std::optional<int64_t>* time : {&call->enqueue_ns, &call->arrival_ns, &call->end_ns}) {
      if (time->has_value()) **time += shift;
    }
  }

  const TimeMap& times_;
  std::vector<int64_t> step_of_;
  int64_t first_rank_;
  int64_t first_id_;
};

std::vector<schema::RunStepRow> StepsOfBoth(const Alignment& alignment, const RunSummary& a,
                                            const RunSummary& b) {
  std::vector<schema::RunStepRow> steps;
  for (const AlignedStep& pair : alignment.steps) {
    schema::RunStepRow step = pair.a ? a.steps[*pair.a] : b.steps[*pair.b];
    int64_t length = step.end_ns - step.begin_ns;
    if (pair.a && pair.b) {
      const schema::RunStepRow& other = b.steps[*pair.b];
      length = std::max(length, other.end_ns - other.begin_ns);
      step.is_steady = step.is_steady != 0 && other.is_steady != 0 ? 1 : 0;
    }
    step.step = static_cast<int64_t>(steps.size());
    step.begin_ns = pair.begin_ns;
    step.end_ns = pair.begin_ns + length;
    steps.push_back(step);
  }
  return steps;
}

template <typename T>
void Append(std::vector<T>* to, std::vector<T>* from) {
  to->insert(to->end(), std::make_move_iterator(from->begin()),
             std::make_move_iterator(from->end()));
}

void IndexCalls(RunSummary* run) {
  run->calls.clear();
  for (size_t i = 0; i < run->collectives.size(); ++i) {
    for (size_t k = 0; k < run->collectives[i].calls.size(); ++k) {
      const schema::CollectiveCallRow& call = run->collectives[i].calls[k];
      run->calls[{call.rank, call.source_id}] = {i, k};
    }
  }
}

}  // namespace

RunSummary MergeRuns(RunSummary a, RunSummary b) {
  const Alignment alignment = AlignSteps(a.steps, a.begin_ns, b.steps, b.begin_ns);
  std::vector<int64_t> step_of_a(a.steps.size());
  std::vector<int64_t> step_of_b(b.steps.size());
  for (size_t i = 0; i < alignment.steps.size(); ++i) {
    const AlignedStep& pair = alignment.steps[i];
    if (pair.a) step_of_a[*pair.a] = static_cast<int64_t>(i);
    if (pair.b) step_of_b[*pair.b] = static_cast<int64_t>(i);
  }
  int64_t first_id = 0;
  for (const Collective& collective : a.collectives) {
    first_id = std::max(first_id, collective.row.id + 1);
  }
  for (const schema::RunCommunicatorRow& row : a.communicators) {
    first_id = std::max(first_id, row.id + 1);
  }
  RunSummary both = std::move(a);
  std::vector<schema::RunStepRow> steps = StepsOfBoth(alignment, both, b);
  Mover(alignment.times_a, std::move(step_of_a), 0, 0).Apply(&both, "A");
  Mover(alignment.times_b, std::move(step_of_b), kFirstRankOfB, first_id).Apply(&b, "B");
  both.first_slot_of_b = both.ranks.size();
  both.times_a = alignment.times_a;
  both.times_b = alignment.times_b;
  both.title_b = b.title;
  both.steps = std::move(steps);
  Append(&both.ranks, &b.ranks);
  Append(&both.traces, &b.traces);
  Append(&both.windows, &b.windows);
  Append(&both.breakdowns, &b.breakdowns);
  Append(&both.issues, &b.issues);
  Append(&both.findings, &b.findings);
  Append(&both.communicators, &b.communicators);
  Append(&both.collectives, &b.collectives);
  both.kernel_categories.merge(b.kernel_categories);
  both.lane_roles.merge(b.lane_roles);
  both.begin_ns = std::min(both.begin_ns, b.begin_ns);
  both.end_ns = std::max(both.end_ns, b.end_ns);
  IndexCalls(&both);
  return both;
}

}  // namespace tutti::viewer
