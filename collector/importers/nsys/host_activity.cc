#include "collector/importers/nsys/host_activity.h"

#include <map>
#include <string>
#include <utility>

namespace tutti::collector::importers::nsys {
namespace {

// Columns that every table of calls has, first in each list of columns.
enum Common : size_t { kStart, kEnd, kTid, kName, kOwn };

struct CallEvent {
  RankOutput* rank = nullptr;
  int64_t global_tid = 0;
  TraceInterval time;
};

// What all kinds share; absent, and counted, if the row can't be used.
std::optional<CallEvent> Read(ImportState& state, TableCursor& row, bool may_be_open) {
  const auto global_tid = row.Int(kTid);
  CallEvent event;
  event.rank = state.RankOf(global_tid);
  if (event.rank == nullptr) {
    state.Skip(row, SkipReason::kNotARank);
    return std::nullopt;
  }
  event.rank->CountEvent();
  if (!global_tid) {
    state.Skip(row, SkipReason::kMissingValue, event.rank);
    return std::nullopt;
  }
  const auto start = row.Int(kStart);
  auto end = row.Int(kEnd);
  if (may_be_open && !end) end = start;
  const auto time = IntervalOf(state, row, event.rank, start, end);
  if (!time) return std::nullopt;
  event.global_tid = *global_tid;
  event.time = *time;
  return event;
}

// Reads all rows of |table|.
template <typename Function>
Status ForEach(ImportState& state, const ExportTable& table,
               const std::vector<std::string_view>& columns, std::string_view suffix,
               bool may_be_open, Function&& function) {
  TUTTI_ASSIGN_OR_RETURN(TableCursor row,
                         TableCursor::Open(state.database, table, columns, suffix));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, row.Next());
    if (!more) return OkStatus();
    const auto event = Read(state, row, may_be_open);
    if (!event) continue;
    TUTTI_RETURN_IF_ERROR(function(row, *event));
    if (row.damaged()) state.Skip(row, SkipReason::kOddValue, event->rank);
  }
}

enum Api : size_t { kCorrelation = kOwn, kReturnValue, kClass };
enum EventClass : int64_t { kRuntime = 0, kDriver = 1 };  // ENUM_NSYS_EVENT_CLASS

std::optional<std::string> ApiOf(std::optional<int64_t> event_class) {
  if (event_class == kRuntime) return "runtime";
  if (event_class == kDriver) return "driver";
  return std::nullopt;
}

Status AddApiCall(TableCursor& row, const CallEvent& event, NcclLaunches& launches) {
  RankOutput& rank = *event.rank;
  schema::ApiCallRow call;
  call.tid = rank.Tid(event.global_tid, event.time.begin_ns, event.time.end_ns);
  TUTTI_ASSIGN_OR_RETURN(call.name_id, rank.CallNameOf(row, kName));
  call.begin_ns = event.time.begin_ns;
  call.end_ns = event.time.end_ns;
  call.correlation_id = row.Int(kCorrelation).value_or(0);
  call.return_value = row.Int(kReturnValue);
  call.api = ApiOf(row.Int(kClass));
  rank.SawMainThread(event.global_tid);
  if (launches.IsLaunch(rank.place(), call.correlation_id)) {
    launches.AddLaunch(rank.place(), event.global_tid, call.begin_ns, call.correlation_id);
  }
  rank.Append(std::move(call));
  return OkStatus();
}

// Texts of an ENUM_… table.
Result<std::map<int64_t, std::string>> EnumLabels(ImportState& state, std::string_view base) {
  std::map<int64_t, std::string> labels;
  const ExportTable* table = state.database.Find(base);
  if (table == nullptr) return labels;
  TUTTI_ASSIGN_OR_RETURN(TableCursor row,
                         TableCursor::Open(state.database, *table, {"id", "label", "name"}));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, row.Next());
    if (!more) return labels;
    const auto id = row.Int(0);
    auto label = row.Text(1);
    if (!label) label = row.Text(2);
    if (id && label) labels.try_emplace(*id, *label);
  }
}

class OverheadImporter {
 public:
  OverheadImporter(ImportState& state, std::map<int64_t, std::string> labels)
      : state_(state), labels_(std::move(labels)) {}

  Status ImportTable(std::string_view base) {
    const ExportTable* table = state_.database.Find(base);
    if (table == nullptr) return OkStatus();
    return ForEach(state_, *table, {"start", "end", "globalTid", "nameId", "overheadType"}, "",
                   /*may_be_open=*/false,
                   [&](TableCursor& row, const CallEvent& event) { return Add(row, event); });
  }

 private:
  // The kind that the enum table names, unless that is none; then what the row is called.
  Result<int64_t> KindOf(TableCursor& row, RankOutput& rank) {
    constexpr int64_t kFirstKnownType = 2;  // 0 undefined, 1 unknown
    const auto type = row.Int(kOwn);
    const auto label = labels_.find(type.value_or(0));
    if (type.value_or(0) >= kFirstKnownType && label != labels_.end()) {
      return rank.Intern(label->second);
    }
    TUTTI_ASSIGN_OR_RETURN(const int64_t name, rank.CallNameOf(row, kName));
    return name == 0 ? rank.Intern("Unknown") : name;
  }

  Status Add(TableCursor& row, const CallEvent& event) {
    schema::OverheadRow overhead;
    TUTTI_ASSIGN_OR_RETURN(overhead.kind_id, KindOf(row, *event.rank));
    overhead.tid = event.rank->Tid(event.global_tid, event.time.begin_ns, event.time.end_ns);
    overhead.begin_ns = event.time.begin_ns;
    overhead.end_ns = event.time.end_ns;
    event.rank->Append(std::move(overhead));
    return OkStatus();
  }

  ImportState& state_;
  std::map<int64_t, std::string> labels_;
};

struct Library {
  const char* table;
  const char* domain;
  bool main_threads_only = false;
};
constexpr Library kLibraries[] = {
    {"OSRT_API", "OS runtime", true},
    {"CUBLAS_EVENTS", "cuBLAS"},
    {"CUDNN_EVENTS", "cuDNN"},
    {"CUDA_HOST_CALLBACK", "CUDA host functions"},
    {"MPI_COLLECTIVES_EVENTS", "MPI"},
    {"MPI_P2P_EVENTS", "MPI"},
    {"MPI_START_WAIT_EVENTS", "MPI"},
    {"MPI_OTHER_EVENTS", "MPI"},
    {"UCP_SUBMIT_EVENTS", "UCX"},
    {"UCP_PROGRESS_EVENTS", "UCX"},
    {"UCP_EVENTS", "UCX"},
    {"OPENACC_DATA_EVENTS", "OpenACC"},
    {"OPENACC_LAUNCH_EVENTS", "OpenACC"},
    {"OPENACC_OTHER_EVENTS", "OpenACC"},
};
enum LibraryColumn : size_t { kNesting = kOwn, kSize };

Status AddLibraryCall(ImportState& state, const Library& library, TableCursor& row,
                      const CallEvent& event) {
  if (library.main_threads_only && !event.rank->IsMainThread(event.global_tid)) {
    state.Skip(row, SkipReason::kNotMain, event.rank);
    return OkStatus();
  }
  schema::RangeRow range;
  range.tid = event.rank->Tid(event.global_tid, event.time.begin_ns, event.time.end_ns);
  range.kind = "push_pop";
  range.domain_id = event.rank->Intern(library.domain);
  TUTTI_ASSIGN_OR_RETURN(range.name_id, event.rank->CallNameOf(row, kName));
  range.begin_ns = event.time.begin_ns;
  if (row.Int(kEnd)) range.end_ns = event.time.end_ns;
  range.depth = row.Int(kNesting).value_or(0);
  if (const auto size = row.Int(kSize)) range.payload = *size;
  event.rank->Append(std::move(range));
  return OkStatus();
}

}  // namespace

Status ImportApiCalls(ImportState& state, NcclLaunches& launches) {
  const ExportTable* table = state.database.Find("CUPTI_ACTIVITY_KIND_RUNTIME");
  if (table == nullptr) return OkStatus();
  return ForEach(
      state, *table,
      {"start", "end", "globalTid", "nameId", "correlationId", "returnValue", "eventClass"}, "",
      /*may_be_open=*/false,
      [&](TableCursor& row, const CallEvent& event) { return AddApiCall(row, event, launches); });
}

Status ImportOverheads(ImportState& state) {
  TUTTI_ASSIGN_OR_RETURN(auto labels, EnumLabels(state, "ENUM_CUPTI_OVERHEAD_TYPE"));
  OverheadImporter importer(state, std::move(labels));
  TUTTI_RETURN_IF_ERROR(importer.ImportTable("PROFILER_OVERHEAD"));
  TUTTI_RETURN_IF_ERROR(importer.ImportTable("CUPTI_ACTIVITY_KIND_OVERHEAD"));
  return importer.ImportTable("CUPTI_ACTIVITY_KIND_JIT");
}

Status ImportLibraryCalls(ImportState& state) {
  for (const Library& library : kLibraries) {
    const ExportTable* table = state.database.Find(library.table);
    if (table == nullptr) continue;
    const bool has_name_id = table->Has("nameId");
    TUTTI_RETURN_IF_ERROR(ForEach(
        state, *table,
        {"start", "end", "globalTid", has_name_id ? "nameId" : "textId", "nestingLevel", "size"},
        "", /*may_be_open=*/true, [&](TableCursor& row, const CallEvent& event) {
          return AddLibraryCall(state, library, row, event);
        }));
  }
  return OkStatus();
}

}  // namespace tutti::collector::importers::nsys
