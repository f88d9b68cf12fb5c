#include "analyzer/replay/whatif.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/decisions.h"
#include "analyzer/replay/replay.h"
#include "schema/trace_file.h"

namespace tutti::analyzer {
namespace {

// Of more ranks than this each is not asked about by itself.
constexpr size_t kMostRanksAsked = 16;
// DistributedDataParallel's.
constexpr const char* kUsualBuckets = "bucket-mb=25";

class Model : public WhatIfModel {
 public:
  explicit Model(JobGraph graph)
      : graph_(std::move(graph)),
        replay_(graph_),
        measured_(replay_.Measured()),
        unchanged_(replay_.Run(Scenario())) {}

  Result<WhatIfAnswer> Ask(const std::vector<std::string>& words) const override {
    TUTTI_ASSIGN_OR_RETURN(const Scenario scenario, Scenario::Parse(words));
    std::vector<int64_t> asked = scenario.ranks_at_median;
    asked.insert(asked.end(), scenario.balanced_ranks.begin(), scenario.balanced_ranks.end());
    for (const int64_t rank : asked) {
      if (std::find(graph_.ranks.begin(), graph_.ranks.end(), rank) == graph_.ranks.end()) {
        return UsageError("scenario " + scenario.text + ": the run has no rank " +
                          std::to_string(rank));
      }
    }
    if (scenario.bucket_mib && graph_.gradients.steps.empty()) {
      return UsageError("scenario " + scenario.text +
                        ": no step has all-reduces of gradients, from its backward pass on");
    }
    WhatIfAnswer answer;
    answer.scenario = scenario.text;
    answer.step_ns = replay_.Run(scenario).step_ns;
    answer.saved_ns = unchanged_.step_ns - answer.step_ns;
    answer.share = unchanged_.step_ns == 0 ? 0
                                           : static_cast<double>(answer.saved_ns) /
                                                 static_cast<double>(unchanged_.step_ns);
    return answer;
  }

  std::vector<std::vector<std::string>> UsualQuestions() const override {
    std::vector<std::vector<std::string>> questions = {
        {"no-input-wait"}, {"no-exposed-comm"}, {"bandwidth=2"}, {"no-copies"},
        {"no-syncs"},      {"launch=0"},        {"host=0.5"}};
    if (graph_.ranks.size() < 2) return questions;
    if (!graph_.gradients.steps.empty()) questions.push_back({kUsualBuckets});
    questions.push_back({"no-stragglers"});
    for (size_t i = 0; i < graph_.ranks.size() && graph_.ranks.size() <= kMostRanksAsked; ++i) {
      questions.push_back({"rank-at-median=" + std::to_string(graph_.ranks[i])});
    }
    return questions;
  }

  std::vector<CriticalPart> CriticalPath() const override {
    std::map<std::pair<int64_t, TimeKind>, int64_t> total_ns;
    for (const PathPiece& piece : replay_.CriticalPath()) {
      if (!graph_.step_counts[piece.share.step]) continue;
      total_ns[{graph_.ranks[piece.share.rank], piece.share.kind}] += piece.end_ns - piece.begin_ns;
    }
    std::vector<CriticalPart> parts;
    for (const auto& [key, ns] : total_ns) {
      parts.push_back(
          {key.first, std::string(NameOf(key.second)), ns / std::max<int64_t>(steps(), 1)});
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const CriticalPart& a, const CriticalPart& b) { return a.ns > b.ns; });
    return parts;
  }

  std::vector<CriticalPiece> CriticalPieces() const override {
    std::vector<CriticalPiece> pieces;
    for (const PathPiece& piece : replay_.CriticalPath()) {
      pieces.push_back({graph_.ranks[piece.share.rank], graph_.steps[piece.share.step].step,
                        std::string(NameOf(piece.share.kind)),
                        graph_.names.texts()[piece.share.name], piece.begin_ns, piece.end_ns});
    }
    return pieces;
  }

  std::vector<Slack> Slacks() const override {
    const std::vector<int64_t> slack_ns = replay_.SlackNs();
    std::vector<Slack> slacks;
    slacks.reserve(slack_ns.size());
    for (EventGraph::Id id = 0; id < slack_ns.size(); ++id) {
      const EventGraph::Event& event = graph_.events.event(id);
      slacks.push_back({graph_.ranks[event.rank], event.measured_ns, slack_ns[id]});
    }
    const auto key = [](const Slack& slack) {
      return std::tuple(slack.rank, slack.time_ns, slack.slack_ns);
    };
    std::sort(slacks.begin(), slacks.end(),
              [&](const Slack& a, const Slack& b) { return key(a) < key(b); });
    const auto last = std::unique(slacks.begin(), slacks.end(), [](const Slack& a, const Slack& b) {
      return std::pair(a.rank, a.time_ns) == std::pair(b.rank, b.time_ns);
    });
    slacks.erase(last, slacks.end());
    return slacks;
  }

  int64_t measured_ns() const override { return measured_.step_ns; }
  int64_t unchanged_ns() const override { return unchanged_.step_ns; }
  int64_t steps() const override {
    return std::count(graph_.step_counts.begin(), graph_.step_counts.end(), true);
  }
  int64_t first_step() const override { return graph_.steps.front().step; }
  int64_t last_step() const override { return graph_.steps.back().step; }

 private:
  JobGraph graph_;
  Replay replay_;
  ReplayedSteps measured_;
  ReplayedSteps unchanged_;
};

// Where the traces of an analysis lie that was named itself.
std::string RunOfAnalysis(const std::string& run_or_file, const std::string& analysis) {
  if (run_or_file != analysis) return run_or_file;
  const std::filesystem::path path(analysis);
  constexpr std::string_view kSuffix = ".run.sqlite";
  if (path.filename() == "run.sqlite") {
    return path.has_parent_path() ? path.parent_path().string() : ".";
  }
  return analysis.ends_with(kSuffix) ? analysis.substr(0, analysis.size() - kSuffix.size())
                                     : analysis;
}

}  // namespace

Result<std::unique_ptr<WhatIfModel>> WhatIfModel::Open(const std::string& run_or_file,
                                                       const std::string& analysis,
                                                       const WhatIfOptions& options) {
  TUTTI_ASSIGN_OR_RETURN(const Decisions decisions, DecisionsOf(options.analyze));
  TUTTI_ASSIGN_OR_RETURN(RunFiles files, FindRunFiles(RunOfAnalysis(run_or_file, analysis)));
  TUTTI_ASSIGN_OR_RETURN(schema::Database derived, schema::OpenRunFile(analysis, {}));
  RunContext context(derived, std::move(files), decisions.options);
  TUTTI_ASSIGN_OR_RETURN(JobGraph graph,
                         BuildJobGraph(context, {kMostReplayedRows, options.all_steps}));
  if (graph.steps.empty() || graph.events.size() == 0) {
    return BadDataError(analysis + ": nothing to replay: no step has events with times");
  }
  return std::unique_ptr<WhatIfModel>(std::make_unique<Model>(std::move(graph)));
}

}  // namespace tutti::analyzer
