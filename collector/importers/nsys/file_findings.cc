#include "collector/importers/nsys/file_findings.h"

#include <algorithm>
#include <array>
#include <string>

namespace tutti::collector::importers::nsys {
namespace {

constexpr int64_t kMostDiagnostics = 100;

constexpr Oddity kWarning = {Severity::kInfo, "profiler_warning",
                             "a warning of Nsight Systems about the capture", ""};
constexpr Oddity kError = {Severity::kNotice, "profiler_error",
                           "an error that Nsight Systems met while it captured", ""};
constexpr Oddity kNotRead = {Severity::kInfo, "table_not_read",
                             "rows of a table that this build has no use for", ""};
constexpr Oddity kView = {Severity::kNotice, "view_not_read",
                          "views and virtual tables, which no export of Nsight Systems has", ""};
constexpr Oddity kNoStart = {Severity::kNotice, "no_session_start",
                             "the export doesn't tell when the session began: times count from 0",
                             "to compare it with other files, export the report again"};
constexpr Oddity kOtherStarts = {Severity::kNotice, "several_sessions",
                                 "the export names several session starts; the first is used",
                                 "export each report by itself"};
constexpr Oddity kOtherProcesses = {Severity::kInfo, "other_processes",
                                    "processes that called CUDA or marked ranges but ran nothing "
                                    "on a GPU are no ranks",
                                    ""};
constexpr Oddity kGraphs = {Severity::kInfo, "graph_as_kernel",
                            "CUDA graphs were traced as a whole: each launch is one kernel here",
                            "profile with --cuda-graph-trace=node to see their kernels"};

// Tables that hold no events, by the beginning of their names.
constexpr std::array kDescriptions = {"ENUM_",
                                      "TARGET_INFO_",
                                      "META_DATA_",
                                      "EXPORT_META_DATA",
                                      "StringIds",
                                      "ANALYSIS_",
                                      "ProcessStreams",
                                      "PROCESSES",
                                      "ThreadNames",
                                      "NVTX_PAYLOAD_",
                                      "NVTX_SCOPES",
                                      "NVTX_EXPORT_",
                                      "NVTX_EVENTS_PAYLOAD_",
                                      "DYNAMIC_NVTXPAYLOAD_",
                                      "GENERIC_EVENT_SOURCES",
                                      "GENERIC_EVENT_TYPE",
                                      "GENERIC_EVENT_DATA",
                                      "MPI_RANKS",
                                      "MPI_COMMUNICATORS",
                                      "UCP_WORKERS",
                                      "NIC_ID_MAP",
                                      "NET_IB_DEVICE",
                                      "PMU_EVENT_REQUESTS",
                                      "ETW_PROVIDERS",
                                      "ETW_TASKS",
                                      "OSRT_FILE_ACCESS_DESCRIPTORS"};

bool IsDescription(const std::string& table) {
  if (table.ends_with("_CALLCHAINS")) return true;
  return std::any_of(kDescriptions.begin(), kDescriptions.end(),
                     [&](const char* name) { return table.starts_with(name); });
}

std::string Place(const std::string& table, int64_t row) {
  return table + " row " + std::to_string(row);
}

// The trace that findings about the whole file go to.
TraceSink& First(ImportState& state) { return state.ranks.front().sink(); }

Status ReportDiagnostics(ImportState& state) {
  const ExportTable* table = state.database.Find("DIAGNOSTIC_EVENT");
  if (table == nullptr || !table->Has("severity")) return OkStatus();
  constexpr int64_t kErrorSeverity = 3;  // ENUM_DIAGNOSTIC_SEVERITY_LEVEL
  TUTTI_ASSIGN_OR_RETURN(
      TableCursor row,
      TableCursor::Open(state.database, *table, {"severity", "text", "globalPid"},
                        "WHERE severity IN (2, 3) LIMIT " + std::to_string(kMostDiagnostics)));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, row.Next());
    if (!more) return OkStatus();
    const auto text = row.Text(1);
    if (!text) continue;
    RankOutput* rank = state.RankOf(row.Int(2));
    TraceSink& sink = rank == nullptr ? First(state) : rank->sink();
    sink.Count(row.Int(0) == kErrorSeverity ? kError : kWarning, Place(row.table(), row.rowid()),
               {}, 1, *text);
  }
}

Status ReportTables(ImportState& state) {
  for (const ExportTable& table : state.database.tables()) {
    if (state.database.WasRead(table) || IsDescription(table.name)) continue;
    TUTTI_ASSIGN_OR_RETURN(const int64_t rows, state.database.connection().QueryOne<int64_t>(
                                                   "SELECT count(*) FROM " + Quoted(table.name)));
    if (rows > 0) First(state).Count(kNotRead, table.name, {}, rows, table.name);
  }
  for (const std::string& view : state.database.views()) {
    First(state).Count(kView, view, {}, 1, view);
  }
  return OkStatus();
}

Severity SeverityOf(const SkipText& text) {
  const std::string_view name = text.severity;
  if (name == "info") return Severity::kInfo;
  return name == "data_loss" ? Severity::kDataLoss : Severity::kNotice;
}

void ReportSkipped(ImportState& state) {
  std::vector<int64_t> left_out(state.ranks.size(), 0);
  for (const auto& [key, entry] : state.skipped.entries()) {
    const auto& [rank, reason, table] = key;
    const bool is_of_file = rank == SkippedRows::kNoRank;
    const size_t place = is_of_file ? 0 : rank;
    const SkipText text = TextOf(reason);
    state.ranks[place].sink().Count({SeverityOf(text), text.name, text.what, ""},
                                    Place(table, entry.first_row), {}, entry.count, table);
    if (!text.is_left_out) continue;
    left_out[place] += entry.count;
    if (is_of_file) state.ranks[place].sink().sources.back().events_read += entry.count;
  }
  for (RankOutput& rank : state.ranks) {
    schema::ImportSourceRow& source = rank.sink().sources.back();
    source.events_skipped = left_out[rank.place()];
    source.events_read += rank.events() - source.events_skipped;
  }
}

}  // namespace

Status ReportFindings(ImportState& state, int64_t other_processes) {
  TUTTI_RETURN_IF_ERROR(ReportDiagnostics(state));
  TUTTI_RETURN_IF_ERROR(ReportTables(state));
  ReportSkipped(state);
  if (!state.session.has_start) First(state).Count(kNoStart, "TARGET_INFO_SESSION_START_TIME");
  if (state.session.has_other_starts) {
    First(state).Count(kOtherStarts, "TARGET_INFO_SESSION_START_TIME");
  }
  if (other_processes > 0) First(state).Count(kOtherProcesses, "", {}, other_processes);
  for (RankOutput& rank : state.ranks) {
    if (rank.graphs() > 0) {
      rank.sink().Count(kGraphs, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {}, rank.graphs());
    }
  }
  return OkStatus();
}

}  // namespace tutti::collector::importers::nsys
