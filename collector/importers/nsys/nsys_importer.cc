#include "collector/importers/nsys/nsys_importer.h"

#include <cstring>
#include <utility>

#include "collector/importers/nsys/device_activity.h"
#include "collector/importers/nsys/devices.h"
#include "collector/importers/nsys/file_findings.h"
#include "collector/importers/nsys/host_activity.h"
#include "collector/importers/nsys/import_state.h"
#include "collector/importers/nsys/nvtx_names.h"
#include "collector/importers/nsys/nvtx_ranges.h"
#include "schema/sql.h"

namespace tutti::collector::importers {
namespace {

using namespace std::literals;

constexpr std::string_view kSqliteMagic = "SQLite format 3\0"sv;
constexpr std::string_view kReportMagic = "NVIDIA Tegra Profiler Report";  // .nsys-rep, .qdrep
constexpr size_t kApplicationIdAt = 68;  // in SQLite's header, big-endian

bool IsReport(const InputFile& file) { return file.head.starts_with(kReportMagic); }

// Tutti's own files are databases, too.
bool IsOwn(std::string_view head) {
  if (head.size() < kApplicationIdAt + 4) return false;
  uint32_t id = 0;
  for (size_t i = 0; i < 4; ++i) {
    id = id << 8 | static_cast<unsigned char>(head[kApplicationIdAt + i]);
  }
  return id == static_cast<uint32_t>(schema::kApplicationId);
}

Status AdviseToExport(const InputFile& file) {
  std::string stem = file.name;
  if (const size_t dot = stem.rfind('.'); dot != std::string::npos) stem.resize(dot);
  return BadDataError(file.name +
                      ": a report in Nsight Systems' own format; export it first: nsys export "
                      "--type sqlite -o " +
                      stem + ".sqlite " + file.name);
}

std::optional<std::string> NonEmpty(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}

// A trace for each rank, told who it is.
Status OpenTraces(const InputFile& file, ImportTarget& target,
                  std::vector<nsys::RankProcess> processes, nsys::ImportState& state) {
  for (nsys::RankProcess& process : processes) {
    TUTTI_ASSIGN_OR_RETURN(TraceSink * sink, target.NewTrace(file));
    TraceIdentity& identity = sink->identity;
    identity.rank = process.rank;
    identity.rank_source = process.rank_source;
    identity.local_rank = process.local_rank;
    identity.world_size = process.world_size;
    identity.device = process.lowest_gpu;
    identity.pid = nsys::PidOf(process.key);
    identity.host = state.session.host;
    // Ranks of one export were recorded together: they share its clock.
    identity.boot_id = "nsys:" + file.name;
    identity.executable = process.name;
    if (state.session.has_start) identity.begin_ns = state.session.clock.ToTrace(0);
    identity.end_ns = state.session.stop_ns;
    schema::ImportSourceRow source;
    source.path = file.name;
    source.format = "nsys";
    source.format_version = NonEmpty(state.database.SchemaVersion());
    source.producer = NonEmpty(state.session.product);
    source.bytes = file.bytes;
    sink->sources.push_back(std::move(source));
    state.place.emplace(process.key, state.ranks.size());
    state.ranks.emplace_back(state.ranks.size(), *sink, state.strings, std::move(process));
  }
  return OkStatus();
}

// In this order: kernels say which calls launched NCCL's work, calls say when, and ranges
// of NCCL look both up; calls of the system are kept for threads that did any of this.
Status ImportEvents(nsys::ImportState& state) {
  nsys::NcclLaunches launches;
  TUTTI_RETURN_IF_ERROR(nsys::ImportKernels(state, launches));
  TUTTI_RETURN_IF_ERROR(nsys::ImportGraphs(state));
  TUTTI_RETURN_IF_ERROR(nsys::ImportMemcpys(state));
  TUTTI_RETURN_IF_ERROR(nsys::ImportMemsets(state));
  TUTTI_RETURN_IF_ERROR(nsys::ImportSyncs(state));
  TUTTI_RETURN_IF_ERROR(nsys::ImportMemoryEvents(state));
  TUTTI_RETURN_IF_ERROR(nsys::ImportApiCalls(state, launches));
  launches.Sort();
  TUTTI_RETURN_IF_ERROR(nsys::ImportNvtx(state, launches));
  TUTTI_RETURN_IF_ERROR(nsys::ImportOverheads(state));
  TUTTI_RETURN_IF_ERROR(nsys::ImportLibraryCalls(state));
  TUTTI_RETURN_IF_ERROR(nsys::ImportDevices(state));
  return nsys::NameThreads(state);
}

}  // namespace

bool NsysImporter::Recognizes(const InputFile& file) const {
  if (IsReport(file)) return true;
  return file.plain_head.starts_with(kSqliteMagic) && !IsOwn(file.plain_head);
}

Status NsysImporter::Import(const InputFile& file, ImportTarget& target) const {
  if (IsReport(file)) return AdviseToExport(file);
  if (!file.head.starts_with(kSqliteMagic)) {
    return BadDataError(file.name + ": a compressed database; decompress it first");
  }
  TUTTI_ASSIGN_OR_RETURN(nsys::ExportDatabase database, nsys::ExportDatabase::Open(file.path));
  TUTTI_ASSIGN_OR_RETURN(nsys::StringIds strings, nsys::StringIds::Open(database));
  TUTTI_ASSIGN_OR_RETURN(const nsys::Session session, nsys::ReadSession(database));
  TUTTI_ASSIGN_OR_RETURN(nsys::RankProcesses processes, nsys::FindRankProcesses(database));
  nsys::ImportState state{database, strings, session};
  TUTTI_RETURN_IF_ERROR(OpenTraces(file, target, std::move(processes.ranks), state));
  TUTTI_RETURN_IF_ERROR(ImportEvents(state));
  TUTTI_RETURN_IF_ERROR(nsys::ReportFindings(state, processes.others));
  for (nsys::RankOutput& rank : state.ranks) TUTTI_RETURN_IF_ERROR(rank.sink().status());
  return OkStatus();
}

}  // namespace tutti::collector::importers
