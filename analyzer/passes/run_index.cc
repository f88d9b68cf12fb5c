// Which files make up the run: their ranks, attempts, clocks and losses. Of an elastic
// job the last attempt is analyzed. Ranks with one boot id share a clock: offset 0,
// never fitted (passes/clock.cc aligns those of others).
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "analyzer/input/limits.h"
#include "analyzer/pass.h"
#include "common/interval.h"
#include "common/parallel.h"
#include "schema/event_tables.h"
#include "schema/rows.h"
#include "schema/trace_file.h"

namespace tutti::analyzer {
namespace {

// What one file says about itself.
struct FileFacts {
  schema::InputFileRow file;
  schema::RankRow rank;
  std::vector<schema::TraceStatRow> stats;
  std::string program;       // as the recorder called it, "" if it did not
  int64_t bad_values = 0;    // of its name and process
  bool is_recorded = false;  // and not imported
  bool still_ran = false;    // when its recording ended here
};

int64_t ReplaceBadValues(schema::ProcessRow& process) {
  return EmptyUnlessIn(process.rank, 0, kMostRanks - 1) +
         EmptyUnlessIn(process.local_rank, 0, kMostRanks - 1) +
         EmptyUnlessIn(process.world_size, 1, kMostRanks) +
         EmptyUnlessIn(process.begin_ns, -kLatestTimeNs, kLatestTimeNs) +
         EmptyUnlessIn(process.end_ns, -kLatestTimeNs, kLatestTimeNs) +
         ReplaceUnlessIn(process.attempt, 0, kMostCount, 0);
}

Result<int64_t> CountRows(schema::Database& trace, std::string_view table) {
  return trace.QueryOne<int64_t>("SELECT count(*) FROM \"" + std::string(table) + "\"");
}

// A table of events and where its times are. What GPUs report of themselves may be damaged
// (begins of 0, ends in 236 years: HolisticTraceAnalysis#325); the host's events bound it.
struct TimedTable {
  const char* name;
  const char* begin = "begin_ns";
  const char* end = "end_ns";
  bool of_device = false;
};
constexpr TimedTable kTimedTables[] = {
    {"step"},
    {"range"},
    {"phase"},
    {"cpu_op"},
    {"api_call"},
    {"data_wait"},
    {"python_call"},
    {"collective_source", "coalesce(enqueue_ns, begin_ns)", "coalesce(end_ns, begin_ns)", true},
    {"batch", "time_ns", "time_ns"},
    {"memory_event", "time_ns", "time_ns"},
    {"kernel", "begin_ns", "end_ns", true},
    {"memcpy", "begin_ns", "end_ns", true},
    {"memset", "begin_ns", "end_ns", true},
    {"sync", "begin_ns", "end_ns", true}};

using MaybeSpan = std::optional<Interval>;

std::string EndOf(const TimedTable& table) {
  return "coalesce(" + std::string(table.end) + ", " + table.begin + ")";
}

MaybeSpan Join(const MaybeSpan& a, const MaybeSpan& b) {
  if (!a || !b) return a ? a : b;
  return Interval{std::min(a->begin_ns, b->begin_ns), std::max(a->end_ns, b->end_ns)};
}

// When the events of a table begin and when the last one ends.
struct TableSpan {
  MaybeSpan begins;
  int64_t last_end_ns = 0;
};

// Of all rows, or of those that `where` leaves. One scan.
Result<TableSpan> QuerySpan(schema::Database& trace, const TimedTable& table,
                            const std::string& where = "") {
  const std::string begin = table.begin;
  TUTTI_ASSIGN_OR_RETURN(schema::Statement statement,
                         trace.Prepare("SELECT min(" + begin + "), max(" + begin + "), max(" +
                                       EndOf(table) + ") FROM " + table.name + where));
  TUTTI_RETURN_IF_ERROR(statement.Step().status());
  TUTTI_ASSIGN_OR_RETURN(const auto first, statement.Get<std::optional<int64_t>>(0));
  TUTTI_ASSIGN_OR_RETURN(const auto last, statement.Get<std::optional<int64_t>>(1));
  TUTTI_ASSIGN_OR_RETURN(const auto end, statement.Get<std::optional<int64_t>>(2));
  if (!first || !last || !end) return TableSpan();
  return TableSpan{Interval{*first, *last}, *end};
}

// The same of the rows that begin in [low, high] and end until `latest`. Nearly always these
// are all rows: the table is scanned again only if not.
Status Bound(schema::Database& trace, const TimedTable& table, int64_t low, int64_t high,
             int64_t latest, TableSpan& span) {
  if (!span.begins ||
      (span.begins->begin_ns >= low && span.begins->end_ns <= high && span.last_end_ns <= latest)) {
    return OkStatus();
  }
  const std::string begin = table.begin;
  TUTTI_ASSIGN_OR_RETURN(span, QuerySpan(trace, table,
                                         " WHERE " + begin + " BETWEEN " + std::to_string(low) +
                                             " AND " + std::to_string(high) + " AND " +
                                             EndOf(table) + " <= " + std::to_string(latest)));
  return OkStatus();
}

// First begin and last end of what can be true; empty for a trace without events. Work of
// devices begins within an hour of the host's events. An event may last long after the last
// one began (a hang), but neither for an hour nor for twice as long as the trace until then.
Result<MaybeSpan> EventSpan(schema::Database& trace) {
  constexpr int64_t kSlackNs = int64_t{3'600} * 1'000'000'000;
  constexpr int64_t kAny = std::numeric_limits<int64_t>::max();
  std::array<TableSpan, std::size(kTimedTables)> spans;
  MaybeSpan host;
  MaybeSpan begins;
  for (const bool of_device : {false, true}) {
    const int64_t low = of_device && host ? host->begin_ns - kSlackNs : -kLatestTimeNs;
    const int64_t high = of_device && host ? host->end_ns + kSlackNs : kLatestTimeNs;
    for (size_t i = 0; i < spans.size(); ++i) {
      if (kTimedTables[i].of_device != of_device) continue;
      TUTTI_ASSIGN_OR_RETURN(spans[i], QuerySpan(trace, kTimedTables[i]));
      TUTTI_RETURN_IF_ERROR(Bound(trace, kTimedTables[i], low, high, kAny, spans[i]));
      begins = Join(begins, spans[i].begins);
      if (!of_device) host = begins;
    }
  }
  if (!begins) return MaybeSpan();
  const int64_t latest_ns =
      begins->end_ns + std::max(kSlackNs, std::min(begins->length_ns(), kLatestTimeNs / 2) * 2);
  MaybeSpan all = begins;
  for (size_t i = 0; i < spans.size(); ++i) {
    if (!spans[i].begins) continue;
    TUTTI_RETURN_IF_ERROR(
        Bound(trace, kTimedTables[i], begins->begin_ns, begins->end_ns, latest_ns, spans[i]));
    if (spans[i].begins) all->end_ns = std::max(all->end_ns, spans[i].last_end_ns);
  }
  return all;
}

Status ReadProcess(schema::Database& trace, FileFacts& facts) {
  TUTTI_ASSIGN_OR_RETURN(const std::vector<schema::ProcessRow> processes,
                         schema::ReadAll<schema::ProcessRow>(trace, "ORDER BY pid LIMIT 2"));
  schema::RankRow& rank = facts.rank;
  TUTTI_ASSIGN_OR_RETURN(const MaybeSpan span, EventSpan(trace));
  rank.begin_ns = span ? span->begin_ns : 0;
  rank.end_ns = span ? span->end_ns : 0;
  if (processes.empty()) return OkStatus();
  schema::ProcessRow process = processes.front();
  // A file is of one process: of several it is not known which one the rows are of.
  facts.bad_values += ReplaceBadValues(process) + (processes.size() > 1 ? 1 : 0);
  facts.file.rank = process.rank ? process.rank : facts.file.rank;
  facts.file.attempt = process.attempt;
  rank.host = process.host;
  rank.boot_id = process.boot_id;
  rank.pid = process.pid;
  rank.local_rank = process.local_rank;
  rank.world_size = process.world_size;
  rank.executable = process.executable;
  rank.exit_status = process.exit_status;
  rank.is_finished = process.end_ns ? 1 : 0;
  if (process.begin_ns) rank.begin_ns = std::min(rank.begin_ns, *process.begin_ns);
  if (process.begin_ns && !span) rank.begin_ns = *process.begin_ns;
  if (process.end_ns) rank.end_ns = std::max(rank.end_ns, *process.end_ns);
  rank.end_ns = std::max(rank.end_ns, rank.begin_ns);  // no event and no end was seen
  return OkStatus();
}

Status ReadFacts(schema::Database& trace, FileFacts& facts) {
  TUTTI_RETURN_IF_ERROR(ReadProcess(trace, facts));
  const auto program =
      trace.QueryOne<std::string>("SELECT value FROM meta WHERE key = 'process.program'");
  if (program.ok()) facts.program = *program;
  facts.is_recorded =
      trace.QueryOne<std::string>("SELECT value FROM meta WHERE key = 'recording.id'").ok();
  const auto until_ns = trace.QueryOne<int64_t>(
      "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'recording.running_until_ns'");
  if (until_ns.ok() && *until_ns > 0 && *until_ns <= kLatestTimeNs) {
    facts.still_ran = true;
    facts.rank.end_ns = std::max(facts.rank.end_ns, *until_ns);
  }
  for (const std::string_view table : schema::kEventTables) {
    TUTTI_ASSIGN_OR_RETURN(const int64_t rows, CountRows(trace, table));
    facts.rank.events += rows;
  }
  int64_t device_work = 0;
  for (const char* table : {"kernel", "memcpy", "memset"}) {
    TUTTI_ASSIGN_OR_RETURN(const int64_t rows, CountRows(trace, table));
    device_work += rows;
  }
  facts.rank.device_kind = device_work > 0 ? "gpu" : "cpu";
  TUTTI_ASSIGN_OR_RETURN(facts.stats, schema::ReadAll<schema::TraceStatRow>(trace, "ORDER BY id"));
  for (schema::TraceStatRow& stat : facts.stats) {
    ReplaceUnlessIn(stat.count, 0, kMostCount, 0);  // RankTrace::Stats() counts it
    // How many events a recorder that was killed has missed is not known.
    if (stat.severity != "data_loss" || stat.name == "recording_killed") continue;
    facts.rank.events_lost = SaturatingAdd(facts.rank.events_lost, stat.count);
  }
  return OkStatus();
}

FileFacts FactsOf(const TraceFile& trace_file, int64_t id) {
  FileFacts facts;
  facts.file.id = id;
  facts.file.path = trace_file.name;
  facts.file.rank = trace_file.rank;
  facts.bad_values = EmptyUnlessIn(facts.file.rank, 0, kMostRanks - 1);
  facts.file.bytes = trace_file.bytes;
  facts.file.mtime_ns = trace_file.mtime_ns;
  facts.file.state = trace_file.is_part ? "partial" : "finished";
  if (!trace_file.unusable_because.empty()) {
    facts.file.state = "unreadable";
    facts.file.note = trace_file.unusable_because;
    return facts;
  }
  // A damaged page is found when it is read: passes read all that they use.
  Result<schema::Database> trace = schema::OpenRankFile(trace_file.path, {.quick_check = false});
  const Status status = trace.ok() ? ReadFacts(*trace, facts) : trace.status();
  if (!status.ok()) {
    facts.file.state = "unreadable";
    facts.file.note = status.message();
  }
  return facts;
}

// "exited with 1", "ended by signal 9".
std::string HowItEnded(int64_t exit_status) {
  constexpr int64_t kSignals = 128;  // as a shell tells them
  if (exit_status > kSignals && exit_status < 2 * kSignals) {
    return "ended by signal " + std::to_string(exit_status - kSignals);
  }
  return "exited with " + std::to_string(exit_status);
}

// Its recorder was killed, and what it left was made a trace of (collector/salvage).
bool IsKilled(const FileFacts& facts) {
  return std::any_of(facts.stats.begin(), facts.stats.end(),
                     [](const schema::TraceStatRow& s) { return s.name == "recording_killed"; });
}

// "attempt 0 (ended by signal 9)".
std::string AttemptText(const FileFacts& facts) {
  const std::string attempt = "attempt " + std::to_string(facts.file.attempt.value_or(0));
  if (facts.rank.exit_status.value_or(0) != 0) {
    return attempt + " (" + HowItEnded(*facts.rank.exit_status) + ")";
  }
  return attempt + (IsKilled(facts) ? " (killed with its recorder)" : "");
}

// Chooses the last attempt, and of two files with one rank the first.
void ChooseFiles(std::vector<FileFacts>& all) {
  int64_t attempt = 0;
  for (const FileFacts& facts : all) {
    if (facts.file.state != "unreadable")
      attempt = std::max(attempt, facts.file.attempt.value_or(0));
  }
  std::map<int64_t, std::string> path_of_rank;
  for (FileFacts& facts : all) {
    schema::InputFileRow& file = facts.file;
    if (file.state == "unreadable") continue;
    if (!file.rank && all.size() == 1) file.rank = 0;
    if (file.attempt.value_or(0) != attempt) {
      file.note = AttemptText(facts) + "; attempt " + std::to_string(attempt) + " is analyzed";
    } else if (!file.rank) {
      file.note = "its rank is not known";
    } else if (const auto [used, is_new] = path_of_rank.emplace(*file.rank, file.path); !is_new) {
      file.note = "rank " + std::to_string(*file.rank) + " is read from " + used->second;
    } else {
      file.is_used = 1;
    }
  }
}

// Equal boot ids are one clock. Without a boot id a rank shares its clock with nobody.
void AssignClocks(std::vector<FileFacts*>& used) {
  std::map<std::string, int64_t> domain_of_boot;
  int64_t domains = 0;
  for (FileFacts* facts : used) {
    schema::RankRow& rank = facts->rank;
    if (!rank.boot_id) {
      rank.clock_domain = domains++;
      continue;
    }
    const auto [found, is_new] = domain_of_boot.emplace(*rank.boot_id, domains);
    if (is_new) ++domains;
    rank.clock_domain = found->second;
  }
  for (FileFacts* facts : used) {
    facts->rank.clock_offset_ns = 0;
    if (domains == 1) facts->rank.clock_error_ns = 0;
  }
}

int64_t ExpectedRanks(const std::vector<FileFacts*>& used) {
  int64_t expected = static_cast<int64_t>(used.size());
  for (const FileFacts* facts : used) {
    expected = std::max({expected, facts->rank.world_size.value_or(0), facts->rank.rank + 1});
  }
  return expected;
}

// "3" or "3, 5 to 9 and 12", at most a few runs of numbers.
std::string ListOfRanks(const std::set<int64_t>& ranks) {
  std::string text;
  size_t runs = 0;
  for (auto it = ranks.begin(); it != ranks.end(); ++runs) {
    const int64_t first = *it;
    int64_t last = first;
    while (++it != ranks.end() && *it == last + 1) ++last;
    if (runs == 8) return text + " and more";
    text += (text.empty() ? "" : ", ") + std::to_string(first);
    if (last > first) text += (last == first + 1 ? ", " : " to ") + std::to_string(last);
  }
  return text;
}

std::string RanksText(const std::set<int64_t>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + ListOfRanks(ranks);
}

Status WriteStats(RunContext& context, const FileFacts& facts) {
  for (const schema::TraceStatRow& stat : facts.stats) {
    schema::DataIssueRow issue;
    issue.severity = stat.severity;
    issue.name = stat.name;
    issue.origin = "trace";
    issue.source = stat.source;
    issue.rank = facts.rank.rank;
    issue.count = stat.count;
    issue.begin_ns = stat.begin_ns;
    issue.end_ns = stat.end_ns;
    issue.detail = stat.detail;
    issue.advice = stat.advice;
    TUTTI_RETURN_IF_ERROR(context.AddIssue(issue));
  }
  return OkStatus();
}

schema::DataIssueRow Issue(const char* severity, const char* name, int64_t count,
                           std::string detail, std::string advice) {
  schema::DataIssueRow issue;
  issue.severity = severity;
  issue.name = name;
  issue.origin = "analysis";
  issue.source = "analyzer.run_index";
  issue.count = count;
  issue.detail = std::move(detail);
  issue.advice = std::move(advice);
  return issue;
}

Status WriteMissingRanks(RunContext& context, const std::vector<FileFacts*>& used,
                         int64_t expected) {
  std::set<int64_t> missing;
  for (int64_t rank = 0; rank < expected; ++rank) missing.insert(rank);
  for (const FileFacts* facts : used) missing.erase(facts->rank.rank);
  if (missing.empty()) return OkStatus();
  return context.AddIssue(
      Issue("data_loss", "ranks_missing", static_cast<int64_t>(missing.size()),
            "no trace of " + RanksText(missing) + " of " + std::to_string(expected) +
                "; waiting can't be told from transferring where they took part",
            "record every rank into the same run folder"));
}

Status WriteFileIssues(RunContext& context, const std::vector<FileFacts>& all) {
  for (const FileFacts& facts : all) {
    const schema::InputFileRow& file = facts.file;
    if (file.state == "unreadable") {
      TUTTI_RETURN_IF_ERROR(context.AddIssue(
          Issue("error", "file_unreadable", 1, file.path + ": " + file.note,
                "look at it where it was recorded, with the tutti that recorded it")));
    } else if (file.is_used == 0) {
      TUTTI_RETURN_IF_ERROR(context.AddIssue(
          Issue("notice", "file_unused", 1, file.path + " is left out: " + file.note, "")));
    } else if (file.state == "partial") {
      TUTTI_RETURN_IF_ERROR(context.AddIssue(
          Issue("notice", "file_partial", 1,
                file.path + " was not finished: it is still being recorded, or was cut off", "")));
    }
  }
  return OkStatus();
}

// "rank 3 exited with 1, ranks 0 to 2 ended by signal 6".
Status WriteFailures(RunContext& context, const std::vector<FileFacts*>& used) {
  std::map<int64_t, std::set<int64_t>> ranks_by_status;
  int64_t failed = 0;
  for (const FileFacts* facts : used) {
    const int64_t status = facts->rank.exit_status.value_or(0);
    if (status == 0) continue;
    ranks_by_status[status].insert(facts->rank.rank);
    ++failed;
  }
  if (failed == 0) return OkStatus();
  std::string detail;
  for (const auto& [status, ranks] : ranks_by_status) {
    detail += (detail.empty() ? "" : ", ") + RanksText(ranks) + " " + HowItEnded(status);
  }
  return context.AddIssue(Issue("notice", "ranks_failed", failed, std::move(detail),
                                "the job did not end well: its last steps may be of its failure"));
}

// Nothing of what the trace tells about is missing.
Status WriteRunning(RunContext& context, const std::set<int64_t>& ranks) {
  if (ranks.empty()) return OkStatus();
  return context.AddIssue(Issue("info", "ranks_running", static_cast<int64_t>(ranks.size()),
                                RanksText(ranks) + " went on after what is in the trace", ""));
}

// A recorder writes down how each of its ranks ended.
Status WriteUnfinished(RunContext& context, const std::vector<FileFacts*>& used) {
  std::set<int64_t> killed;
  std::set<int64_t> running;
  std::set<int64_t> open;
  for (const FileFacts* facts : used) {
    if (!facts->is_recorded || facts->rank.is_finished != 0) continue;
    (facts->still_ran ? running : IsKilled(*facts) ? killed : open).insert(facts->rank.rank);
  }
  TUTTI_RETURN_IF_ERROR(WriteRunning(context, running));
  if (!killed.empty()) {
    TUTTI_RETURN_IF_ERROR(
        context.AddIssue(Issue("data_loss", "run_killed", static_cast<int64_t>(killed.size()),
                               "the recorder was killed before " + RanksText(killed) +
                                   " ended; what came after the last event is not in the trace",
                               "record again if the missing part matters")));
  }
  if (open.empty()) return OkStatus();
  return context.AddIssue(
      Issue("data_loss", "ranks_unfinished", static_cast<int64_t>(open.size()),
            RanksText(open) + (open.size() == 1 ? " was" : " were") +
                " not seen to end: killed together with the "
                "recorder, or still running; what came after the last event is not in the trace",
            ""));
}

std::string ProgramName(const std::vector<FileFacts*>& used) {
  for (const FileFacts* facts : used) {
    if (!facts->program.empty()) return facts->program;
    if (!facts->rank.executable) continue;
    const std::string& path = *facts->rank.executable;
    return path.substr(path.find_last_of('/') + 1);
  }
  return "";
}

Status WriteMeta(RunContext& context, const std::vector<FileFacts*>& used, int64_t expected) {
  const schema::RunMetaRow rows[] = {
      {"run.ranks", std::to_string(used.size())},
      {"run.ranks_expected", std::to_string(expected)},
      {"run.workload", ProgramName(used)},
  };
  return context.Write(std::span<const schema::RunMetaRow>(rows));
}

Status Run(RunContext& context) {
  const std::vector<TraceFile>& files = context.files().traces;
  std::vector<FileFacts> all(files.size());
  ParallelFor(files.size(), [&](size_t i) { all[i] = FactsOf(files[i], static_cast<int64_t>(i)); });
  ChooseFiles(all);
  std::vector<FileFacts*> used;
  for (FileFacts& facts : all) {
    TUTTI_RETURN_IF_ERROR(context.Write(std::span<const schema::InputFileRow>(&facts.file, 1)));
    if (facts.file.is_used == 0) continue;
    facts.rank.rank = *facts.file.rank;
    facts.rank.attempt = facts.file.attempt.value_or(0);
    facts.rank.input_file_id = facts.file.id;
    used.push_back(&facts);
  }
  if (used.empty()) return NotFoundError("none of the files can be read: " + all.front().file.note);
  AssignClocks(used);
  for (const FileFacts* facts : used) {
    TUTTI_RETURN_IF_ERROR(context.Write(std::span<const schema::RankRow>(&facts->rank, 1)));
    TUTTI_RETURN_IF_ERROR(WriteStats(context, *facts));
    context.AddBadValues(facts->rank.rank, facts->bad_values);
  }
  const int64_t expected = ExpectedRanks(used);
  TUTTI_RETURN_IF_ERROR(WriteMissingRanks(context, used, expected));
  TUTTI_RETURN_IF_ERROR(WriteFileIssues(context, all));
  TUTTI_RETURN_IF_ERROR(WriteFailures(context, used));
  TUTTI_RETURN_IF_ERROR(WriteUnfinished(context, used));
  return WriteMeta(context, used, expected);
}

constexpr PassCheck kChecks[] = {
    {"ranks of one boot id have offset 0",
     "SELECT count(*) FROM rank WHERE boot_id IS NOT NULL AND clock_offset_ns <> 0"},
    {"every rank has a used file",
     "SELECT count(*) FROM rank WHERE input_file_id NOT IN (SELECT id FROM input_file WHERE "
     "is_used)"},
};

}  // namespace

extern const Pass kRunIndexPass;
const Pass kRunIndexPass{"run_index", Run, kChecks};

}  // namespace tutti::analyzer
