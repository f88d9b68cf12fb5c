#include "exporter/perfetto/perfetto_export.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <utility>

#include "exporter/perfetto/counter_writer.h"
#include "exporter/perfetto/rank_tracks.h"
#include "exporter/text_table.h"
#include "schema/derived_rows.h"
#include "schema/reader.h"

namespace tutti::exporter::perfetto {
namespace {

Result<schema::ProcessRow> ReadProcess(schema::Database& trace) {
  TUTTI_ASSIGN_OR_RETURN(auto rows, schema::ReadAll<schema::ProcessRow>(trace, "LIMIT 1"));
  return rows.empty() ? schema::ProcessRow{} : std::move(rows.front());
}

ProcessDescription Describe(const schema::ProcessRow& process, const RankContext& context) {
  const std::optional<int64_t> rank = context.rank ? context.rank : process.rank;
  ProcessDescription description;
  description.name = rank ? "rank " + std::to_string(*rank) : "process";
  if (process.attempt > 0) description.name += ", attempt " + std::to_string(process.attempt);
  if (process.executable) {
    description.name += ": " + std::filesystem::path(*process.executable).filename().string();
  }
  description.label = process.host;
  description.order = std::clamp<int64_t>(rank.value_or(0), 0, std::numeric_limits<int32_t>::max());
  return description;
}

// What groups are called: "gloo default_pg [0,1]".
Result<std::map<int64_t, std::string>> GroupNames(schema::Database& analysis) {
  std::map<int64_t, std::string> names;
  TUTTI_RETURN_IF_ERROR(schema::ForEach<schema::RunCommunicatorRow>(
      analysis, "", [&](const schema::RunCommunicatorRow& row) {
        std::string name = row.backend + " " + row.description.value_or(row.uid.value_or(""));
        if (row.global_ranks && row.global_ranks->size() <= 40) name += " " + *row.global_ranks;
        names[row.id] = name;
      }));
  return names;
}

class RankExport {
 public:
  RankExport(schema::Database& trace, const RankContext& context, PacketWriter& packets,
             RankTracks tracks, TextTable texts, uint64_t number)
      : trace_(trace),
        context_(context),
        packets_(packets),
        tracks_(std::move(tracks)),
        texts_(std::move(texts)),
        number_(number) {}

  Status Write() {
    TUTTI_RETURN_IF_ERROR(AddFlowViews(trace_));
    TUTTI_RETURN_IF_ERROR(WriteLanes(StepSources(), Plain("steps", 0)));
    TUTTI_RETURN_IF_ERROR(WriteLanes(LooseRangeSources(), Plain("ranges", 1)));
    TUTTI_RETURN_IF_ERROR(WriteLanes(IssueSources(), Plain("data loss", 2)));
    TUTTI_RETURN_IF_ERROR(WriteLanes(OverheadSources(), Plain("profiler overhead", 3)));
    TUTTI_RETURN_IF_ERROR(WriteCollectives());
    TUTTI_RETURN_IF_ERROR(WriteLanes(
        StreamSources(), [this](LaneKey lane) { return tracks_.Stream(lane.first, lane.second); }));
    TUTTI_RETURN_IF_ERROR(
        WriteLanes(SyncSources(), [this](LaneKey lane) { return tracks_.Sync(lane.first); }));
    TUTTI_RETURN_IF_ERROR(
        WriteLanes(ThreadSources(), [this](LaneKey lane) { return tracks_.Thread(lane.first); }));
    return WriteCounters(trace_, context_.offset_ns, packets_, tracks_, counts_);
  }

  const EventCounts& counts() const { return counts_; }

 private:
  using TrackOf = std::function<LaneTrack(LaneKey)>;

  TrackOf Plain(const char* name, int64_t order) {
    return [this, name, order](LaneKey) { return tracks_.Plain(name, order); };
  }
  Status WriteLanes(const std::vector<SliceSource>& sources, const TrackOf& track_of) {
    return LaneWriter(packets_, counts_)
        .Write({.database = &trace_,
                .texts = &texts_,
                .sources = &sources,
                .offset_ns = context_.offset_ns,
                .trace = number_},
               track_of);
  }
  // Of the derived tables, whose times are aligned.
  Status WriteCollectives() {
    if (context_.analysis == nullptr || !context_.rank) return OkStatus();
    TUTTI_ASSIGN_OR_RETURN(const auto names, GroupNames(*context_.analysis));
    return LaneWriter(packets_, counts_)
        .Write({.database = context_.analysis,
                .texts = &texts_,
                .sources = &CollectiveSources(),
                .parameter = context_.rank,
                .trace = number_},
               [&](LaneKey lane) {
                 const auto name = names.find(lane.first);
                 return tracks_.Collectives(name == names.end() ? "unknown group" : name->second);
               });
  }

  schema::Database& trace_;
  const RankContext& context_;
  PacketWriter& packets_;
  RankTracks tracks_;
  TextTable texts_;
  uint64_t number_;
  EventCounts counts_;
};

// Events that have no time: nothing can be drawn of them.
Result<int64_t> CountUntimed(schema::Database& trace) {
  return trace.QueryOne<int64_t>(
      "SELECT (SELECT count(*) FROM kernel WHERE begin_ns IS NULL)"
      " + (SELECT count(*) FROM memcpy WHERE begin_ns IS NULL)"
      " + (SELECT count(*) FROM memset WHERE begin_ns IS NULL)"
      " + (SELECT count(*) FROM sync WHERE begin_ns IS NULL)");
}

Result<std::optional<int64_t>> EarliestTime(schema::Database& trace) {
  return trace.QueryOne<std::optional<int64_t>>(
      "SELECT min(t) FROM (SELECT min(begin_ns) AS t FROM cpu_op UNION ALL"
      " SELECT min(begin_ns) FROM kernel UNION ALL SELECT min(begin_ns) FROM range UNION ALL"
      " SELECT min(begin_ns) FROM step UNION ALL SELECT min(time_ns) FROM memory_event)");
}

void Tell(int64_t count, const char* what, std::vector<std::string>& messages) {
  if (count > 0) messages.push_back(std::to_string(count) + " " + what);
}

}  // namespace

int64_t PerfettoExport::UniqueNumber(int64_t number, std::set<int64_t>& taken) {
  constexpr int64_t kFirstFree = 1'000'000'000;  // above every pid of Linux
  if (number <= 0 || number >= kFirstFree || taken.contains(number)) {
    number = kFirstFree;
    if (!taken.empty()) number = std::max(number, *taken.rbegin() + 1);
  }
  taken.insert(number);
  return number;
}

Result<std::vector<std::string>> PerfettoExport::AddRank(schema::Database& trace,
                                                         const RankContext& context) {
  TUTTI_ASSIGN_OR_RETURN(const schema::ProcessRow process, ReadProcess(trace));
  if (traces_ == 0) {
    TUTTI_ASSIGN_OR_RETURN(const auto earliest_ns, EarliestTime(trace));
    packets_.SetWallClock(std::max<int64_t>(earliest_ns.value_or(0), 0));
  }
  ProcessDescription description = Describe(process, context);
  description.pid = UniqueNumber(process.pid, pids_);
  TUTTI_ASSIGN_OR_RETURN(
      RankTracks tracks,
      RankTracks::Make(trace, packets_, std::move(description),
                       [this](int64_t tid) { return UniqueNumber(tid, tids_); }));
  TUTTI_ASSIGN_OR_RETURN(TextTable texts, TextTable::Open(trace));
  RankExport rank(trace, context, packets_, std::move(tracks), std::move(texts), traces_++);
  TUTTI_RETURN_IF_ERROR(rank.Write());
  events_ += rank.counts().events;
  std::vector<std::string> messages;
  Tell(rank.counts().open, "events were still open when the trace ended: they begin and do not end",
       messages);
  Tell(rank.counts().impossible, "events have times that can't be and were left out", messages);
  TUTTI_ASSIGN_OR_RETURN(const int64_t untimed, CountUntimed(trace));
  Tell(untimed, "events on GPUs have no time and were left out", messages);
  if (context.analysis != nullptr && !context.rank) {
    messages.emplace_back("not analyzed (a later attempt was): no collectives, clock as it is");
  }
  return messages;
}

}  // namespace tutti::exporter::perfetto
