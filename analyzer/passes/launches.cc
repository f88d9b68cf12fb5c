// Launch calls and the work they start: what launching costs the host, how long work waits
// and behind what, how many launches wait for each stream.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analyzer/metrics/launch_queue.h"
#include "analyzer/metrics/percentile.h"
#include "analyzer/pass.h"

namespace tutti::analyzer {
namespace {

constexpr int64_t kSpans = 512;

// One stream's work and those pieces of it with a known call. Of the nodes of a graph the
// first one stands for its launch.
struct Stream {
  std::vector<Interval> work;  // by begin
  std::vector<LaunchedPiece> pieces;
  std::vector<int64_t> launches;  // places among the api calls, of the pieces
  int64_t before_capture = 0;
  int64_t launch_unknown = 0;
};
using Streams = std::map<std::pair<int64_t, int64_t>, Stream>;

Streams CollectStreams(std::span<const DeviceEvent> events, std::span<const ApiEvent> calls) {
  Streams streams;
  std::unordered_set<int64_t> seen;
  for (const DeviceEvent& event : events) {
    Stream& stream = streams[{event.device_id, event.stream_id}];
    stream.work.push_back(event.time());
    if (event.launch < 0) {
      // Work of a stream runs in order: what runs before the first known launch's work was
      // launched before it, too.
      ++(stream.pieces.empty() ? stream.before_capture : stream.launch_unknown);
      continue;
    }
    if (!seen.insert(event.launch).second) continue;
    const ApiEvent& call = calls[static_cast<size_t>(event.launch)];
    stream.pieces.push_back({{call.begin_ns, call.end_ns}, event.time()});
    stream.launches.push_back(event.launch);
  }
  for (auto& [id, stream] : streams) {
    // Where no call was recorded at all, nothing says that the capture began later.
    if (!calls.empty()) continue;
    stream.launch_unknown += std::exchange(stream.before_capture, 0);
  }
  return streams;
}

struct Tally {
  schema::LaunchStatsRow row;
  std::vector<int64_t> calls_ns;
  std::vector<int64_t> delays_ns;
  std::vector<int64_t> queues_ns;
};
using Tallies = std::map<std::string, Tally>;

Tallies TallyLaunches(const RankTrace& trace, std::span<const DeviceEvent> events,
                      std::span<const ApiEvent> calls, const Streams& streams) {
  Tallies tallies;
  const auto tally_of = [&](int64_t launch) -> Tally& {
    return tallies[trace.Text(calls[static_cast<size_t>(launch)].name_id)];
  };
  for (const auto& [id, stream] : streams) {
    const std::vector<LaunchWait> waits = LaunchWaits(stream.pieces, stream.work);
    for (size_t i = 0; i < waits.size(); ++i) {
      Tally& tally = tally_of(stream.launches[i]);
      tally.calls_ns.push_back(stream.pieces[i].call.length_ns());
      tally.delays_ns.push_back(waits[i].delay_ns);
      tally.queues_ns.push_back(waits[i].queue_ns);
      tally.row.skewed += waits[i].skew_ns > 0 ? 1 : 0;
      tally.row.max_skew_ns = std::max(tally.row.max_skew_ns, waits[i].skew_ns);
    }
  }
  for (const DeviceEvent& event : events) {
    if (event.launch >= 0) ++tally_of(event.launch).row.work;
  }
  return tallies;
}

std::vector<schema::LaunchStatsRow> LaunchRows(int64_t rank, Tallies& tallies) {
  std::vector<schema::LaunchStatsRow> rows;
  for (auto& [name, tally] : tallies) {
    schema::LaunchStatsRow row = tally.row;
    row.rank = rank;
    row.name = name;
    row.calls = static_cast<int64_t>(tally.calls_ns.size());
    for (const int64_t ns : tally.calls_ns) row.host_ns += ns;
    row.p50_ns = LowerNearestRank(tally.calls_ns, 500);
    row.p99_ns = LowerNearestRank(tally.calls_ns, 990);
    row.p50_delay_ns = LowerNearestRank(tally.delays_ns, 500);
    row.p99_delay_ns = LowerNearestRank(tally.delays_ns, 990);
    row.p50_queue_ns = LowerNearestRank(tally.queues_ns, 500);
    row.p99_queue_ns = LowerNearestRank(tally.queues_ns, 990);
    rows.push_back(std::move(row));
  }
  return rows;
}

Status WriteQueues(RunContext& context, int64_t rank, const Streams& streams) {
  std::vector<schema::StreamQueueRow> rows;
  std::vector<schema::QueueTimelineRow> timeline;
  for (const auto& [id, stream] : streams) {
    const std::vector<QueueLength> lengths = QueueLengths(stream.pieces);
    const QueueSummary summary = SummarizeQueue(lengths);
    schema::StreamQueueRow row;
    row.rank = rank;
    row.device_id = id.first;
    row.stream_id = id.second;
    row.launches = static_cast<int64_t>(stream.pieces.size());
    row.before_capture = stream.before_capture;
    row.launch_unknown = stream.launch_unknown;
    row.max_length = summary.max_length;
    row.mean_length = summary.mean_length;
    row.p50_length = summary.p50_length;
    row.full_ns = summary.full_ns;
    rows.push_back(row);
    for (const QueueSpan& span : QueueTimeline(lengths, kSpans)) {
      timeline.push_back(
          {rank, id.first, id.second, span.time.begin_ns, span.time.end_ns, span.max_length});
    }
  }
  TUTTI_RETURN_IF_ERROR(context.Write(rows));
  return context.Write(timeline);
}

schema::DataIssueRow Issue(const char* severity, const char* name, int64_t rank, int64_t count,
                           std::string detail) {
  schema::DataIssueRow issue;
  issue.severity = severity;
  issue.name = name;
  issue.origin = "analysis";
  issue.source = "analyzer.launches";
  issue.rank = rank;
  issue.count = count;
  issue.detail = std::move(detail);
  return issue;
}

Status WriteSkew(RunContext& context, int64_t rank,
                 const std::vector<schema::LaunchStatsRow>& launches) {
  int64_t skewed = 0;
  int64_t most_ns = 0;
  for (const schema::LaunchStatsRow& row : launches) {
    skewed += row.skewed;
    most_ns = std::max(most_ns, row.max_skew_ns);
  }
  if (skewed == 0) return OkStatus();
  return context.AddIssue(Issue(most_ns < 1'000 ? "info" : "notice", "device_clock_skew", rank,
                                skewed,
                                std::to_string(skewed) +
                                    " pieces of GPU work seem to begin before their launch calls, "
                                    "by up to " +
                                    std::to_string(most_ns) +
                                    " ns: the clocks of host and GPU differ; their launch delays "
                                    "are taken as 0"));
}

Status WriteBeforeCapture(RunContext& context, int64_t rank, const Streams& streams) {
  int64_t before = 0;
  for (const auto& [id, stream] : streams) before += stream.before_capture;
  if (before == 0) return OkStatus();
  return context.AddIssue(Issue("info", "launched_before_capture", rank, before,
                                std::to_string(before) +
                                    " pieces of GPU work have no launch call and run before the "
                                    "first that has one: they were launched before the capture "
                                    "began"));
}

// Names the first few, with their launch calls.
Status WriteUntimed(RunContext& context, const schema::RankRow& rank, RankTrace& trace,
                    std::span<const ApiEvent> calls) {
  constexpr size_t kMostNamed = 3;
  TUTTI_ASSIGN_OR_RETURN(const auto untimed, trace.UntimedKernels());
  if (untimed.empty()) return OkStatus();
  std::string list;
  std::optional<Interval> launched;
  for (size_t i = 0; i < untimed.size(); ++i) {
    if (i < kMostNamed) {
      list += (i == 0 ? "" : ", ") + trace.Text(untimed[i].name_id).substr(0, 60) + " (kernel " +
              std::to_string(untimed[i].id);
      if (untimed[i].launch >= 0) {
        const ApiEvent& call = calls[static_cast<size_t>(untimed[i].launch)];
        list += ", launched by " + trace.Text(call.name_id) + " " + std::to_string(call.id);
      }
      list += ")";
    }
    if (untimed[i].launch < 0) continue;
    const ApiEvent& call = calls[static_cast<size_t>(untimed[i].launch)];
    launched = Interval{std::min(launched ? launched->begin_ns : call.begin_ns, call.begin_ns),
                        std::max(launched ? launched->end_ns : call.end_ns, call.end_ns)};
  }
  if (untimed.size() > kMostNamed) list += " and more";
  schema::DataIssueRow issue = Issue(
      "data_loss", "kernels_untimed", rank.rank, static_cast<int64_t>(untimed.size()),
      "the driver gave no times for " + std::to_string(untimed.size()) +
          (untimed.size() == 1 ? " kernel" : " kernels") + "; they are in no figure: " + list);
  if (launched) {
    issue.begin_ns = launched->begin_ns;
    issue.end_ns = launched->end_ns;
  }
  return context.AddIssue(issue);
}

Status LaunchesOfRank(RunContext& context, const schema::RankRow& rank, RankTrace& trace) {
  TUTTI_ASSIGN_OR_RETURN(const auto events, trace.DeviceEvents());
  TUTTI_ASSIGN_OR_RETURN(const auto calls, trace.ApiCalls());
  TUTTI_RETURN_IF_ERROR(WriteUntimed(context, rank, trace, calls));
  const Streams streams = CollectStreams(events, calls);
  Tallies tallies = TallyLaunches(trace, events, calls, streams);
  const std::vector<schema::LaunchStatsRow> launches = LaunchRows(rank.rank, tallies);
  TUTTI_RETURN_IF_ERROR(context.Write(launches));
  TUTTI_RETURN_IF_ERROR(WriteQueues(context, rank.rank, streams));
  TUTTI_RETURN_IF_ERROR(WriteSkew(context, rank.rank, launches));
  return WriteBeforeCapture(context, rank.rank, streams);
}

Status Run(RunContext& context) {
  return context.ForEachRank([&](const schema::RankRow& rank, RankTrace& trace) {
    return LaunchesOfRank(context, rank, trace);
  });
}

constexpr PassCheck kChecks[] = {
    {"no work waits in its stream for longer than since its launch",
     "SELECT count(*) FROM launch_stats WHERE p50_queue_ns > p50_delay_ns"
     " OR p99_queue_ns > p99_delay_ns OR p50_delay_ns < 0 OR calls > work"},
};

}  // namespace

extern const Pass kLaunchesPass;
const Pass kLaunchesPass{"launches", Run, kChecks, PassScope::kRank};

}  // namespace tutti::analyzer
