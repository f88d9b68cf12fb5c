#include "collector/importers/nsys/rank_processes.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "collector/importers/nsys/table_cursor.h"

namespace tutti::collector::importers::nsys {
namespace {

constexpr size_t kMostRanks = 1'024;
constexpr size_t kMostProcesses = 100'000;  // of a system-wide capture

// Synchronisation is left out: its rows name GPU 0, whatever GPU was waited for.
constexpr std::string_view kDeviceTables[] = {
    "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUDA_GPU_MEMORY_USAGE_EVENTS"};
constexpr std::string_view kHostTables[] = {"CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS",
                                            "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"};
constexpr std::string_view kLibraryTables[] = {"OSRT_API", "CUBLAS_EVENTS", "CUDNN_EVENTS",
                                               "MPI_COLLECTIVES_EVENTS", "MPI_P2P_EVENTS"};

struct Activity {
  bool has_events = false;
  std::map<ProcessKey, int64_t> lowest_device;  // by process
};

// Adds the processes that |table| names; |id| is the column that does.
Status AddProcesses(ExportDatabase& database, const ExportTable& table, std::string_view id,
                    Activity& activity) {
  const std::string key = Quoted(id) + " >> 24";
  const std::string device = table.Has("deviceId") ? "min(deviceId)" : "0";
  const std::string sql = "SELECT min(" + Quoted(id) + "), " + device + " FROM " +
                          Quoted(table.name) + " WHERE typeof(" + Quoted(id) +
                          ") = 'integer' GROUP BY " + key + " LIMIT " +
                          std::to_string(kMostProcesses);
  TUTTI_ASSIGN_OR_RETURN(schema::Statement rows, database.connection().Prepare(sql));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return OkStatus();
    TUTTI_ASSIGN_OR_RETURN(const int64_t global_id, rows.Get<int64_t>(0));
    const Result<int64_t> lowest = rows.Get<int64_t>(1);
    const int64_t value = lowest.ok() ? *lowest : 0;
    const auto [entry, is_new] = activity.lowest_device.try_emplace(ProcessOf(global_id), value);
    if (!is_new) entry->second = std::min(entry->second, value);
  }
}

template <size_t kSize>
Result<Activity> ActivityOf(ExportDatabase& database, const std::string_view (&tables)[kSize]) {
  Activity activity;
  for (const std::string_view base : tables) {
    const ExportTable* table = database.Find(base);
    if (table == nullptr) continue;
    const std::string any = "SELECT EXISTS (SELECT 1 FROM " + Quoted(table->name) + ")";
    TUTTI_ASSIGN_OR_RETURN(const int64_t exists, database.connection().QueryOne<int64_t>(any));
    activity.has_events = activity.has_events || exists != 0;
    for (const std::string_view id : {"globalPid", "globalTid"}) {
      if (table->Has(id)) {
        TUTTI_RETURN_IF_ERROR(AddProcesses(database, *table, id, activity));
        break;
      }
    }
  }
  return activity;
}

// (pid, CUDA device) -> physical GPU.
Result<std::map<std::pair<int64_t, int64_t>, int64_t>> PhysicalGpus(ExportDatabase& database) {
  std::map<std::pair<int64_t, int64_t>, int64_t> gpus;
  const ExportTable* table = database.Find("TARGET_INFO_CUDA_DEVICE");
  if (table == nullptr) return gpus;
  TUTTI_ASSIGN_OR_RETURN(TableCursor rows,
                         TableCursor::Open(database, *table, {"pid", "cudaId", "gpuId"}));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return gpus;
    const auto pid = rows.Int(0);
    const auto device = rows.Int(1);
    const auto gpu = rows.Int(2);
    if (pid && device && gpu) gpus.try_emplace({*pid, *device}, *gpu);
  }
}

Status SetNames(ExportDatabase& database, std::vector<RankProcess>& ranks) {
  const ExportTable* table = database.Find("PROCESSES");
  if (table == nullptr) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(TableCursor rows,
                         TableCursor::Open(database, *table, {"globalPid", "name"}));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return OkStatus();
    const std::optional<int64_t> global_pid = rows.Int(0);
    if (!global_pid) continue;
    for (RankProcess& rank : ranks) {
      if (rank.key == ProcessOf(*global_pid)) rank.name = rows.Text(1).value_or("");
    }
  }
}

Status SetMpiRanks(ExportDatabase& database, std::vector<RankProcess>& ranks) {
  const ExportTable* table = database.Find("MPI_RANKS");
  if (table == nullptr) return OkStatus();
  TUTTI_ASSIGN_OR_RETURN(TableCursor rows,
                         TableCursor::Open(database, *table, {"globalTid", "rank"}));
  while (true) {
    TUTTI_ASSIGN_OR_RETURN(const bool more, rows.Next());
    if (!more) return OkStatus();
    const auto global_tid = rows.Int(0);
    const auto number = rows.Int(1);
    if (!global_tid || !number || *number < 0) continue;
    for (RankProcess& rank : ranks) {
      if (rank.key != ProcessOf(*global_tid) || rank.rank) continue;
      rank.rank = number;
      rank.rank_source = "MPI_RANKS";
    }
  }
}

// Values of META_DATA_CAPTURE are written NAME="value".
std::optional<int64_t> EnvironmentNumber(const std::vector<std::string>& variables,
                                         std::string_view name) {
  const std::string start = std::string(name) + "=\"";
  for (const std::string& variable : variables) {
    if (!variable.starts_with(start)) continue;
    int64_t number = 0;
    const char* begin = variable.data() + start.size();
    const auto [end, error] = std::from_chars(begin, variable.data() + variable.size(), number);
    if (error == std::errc() && *end == '"' && number >= 0) return number;
  }
  return std::nullopt;
}

// The environment is that of the process which nsys started: it says which rank only
// where that process, or its only training child, is the one rank of the export.
void SetFromEnvironment(const ExportDatabase& database, RankProcess& rank) {
  struct Launcher {
    const char* rank;
    const char* local_rank;
    const char* world_size;
  };
  constexpr Launcher kLaunchers[] = {
      {"RANK", "LOCAL_RANK", "WORLD_SIZE"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},
      {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"}};
  const auto variables = database.MetaValues("PROCESS_0:ENVIRONMENT_VARIABLE");
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<int64_t> number = EnvironmentNumber(variables, launcher.rank);
    if (!number) continue;
    rank.rank = number;
    rank.rank_source = launcher.rank;
    rank.local_rank = EnvironmentNumber(variables, launcher.local_rank);
    rank.world_size = EnvironmentNumber(variables, launcher.world_size);
    return;
  }
}

// Two processes can't be one rank: then nothing is known.
void DropDoubtfulRanks(std::vector<RankProcess>& ranks) {
  std::set<int64_t> seen;
  const bool all_told = std::all_of(ranks.begin(), ranks.end(), [&](const RankProcess& rank) {
    return rank.rank && seen.insert(*rank.rank).second;
  });
  if (all_told) return;
  for (RankProcess& rank : ranks) {
    rank.rank.reset();
    rank.rank_source.clear();
  }
}

Result<Activity> FindActivity(ExportDatabase& database, int64_t& all_processes) {
  TUTTI_ASSIGN_OR_RETURN(Activity device, ActivityOf(database, kDeviceTables));
  TUTTI_ASSIGN_OR_RETURN(Activity host, ActivityOf(database, kHostTables));
  std::set<ProcessKey> all;
  for (const auto& [key, lowest] : device.lowest_device) all.insert(key);
  for (const auto& [key, lowest] : host.lowest_device) all.insert(key);
  all_processes = static_cast<int64_t>(all.size());
  if (!device.lowest_device.empty()) return device;
  host.has_events = host.has_events || device.has_events;
  if (!host.lowest_device.empty() || host.has_events) return host;
  return ActivityOf(database, kLibraryTables);
}

}  // namespace

Result<RankProcesses> FindRankProcesses(ExportDatabase& database) {
  RankProcesses found;
  int64_t all = 0;
  TUTTI_ASSIGN_OR_RETURN(const Activity activity, FindActivity(database, all));
  if (activity.lowest_device.empty() && !activity.has_events) {
    return BadDataError(database.connection().path() +
                        ": an export of Nsight Systems without events of CUDA, NVTX or the "
                        "system's libraries; profile with --trace=cuda,nvtx,osrt");
  }
  TUTTI_ASSIGN_OR_RETURN(const auto gpus, PhysicalGpus(database));
  for (const auto& [key, device] : activity.lowest_device) {
    RankProcess rank;
    rank.key = key;
    const auto gpu = gpus.find({PidOf(key), device});
    rank.lowest_gpu = gpu == gpus.end() ? device : gpu->second;
    found.ranks.push_back(std::move(rank));
  }
  if (found.ranks.empty()) found.ranks.emplace_back();
  if (found.ranks.size() > kMostRanks) {
    return BadDataError(database.connection().path() + ": more than " + std::to_string(kMostRanks) +
                        " processes with work on a GPU");
  }
  std::sort(found.ranks.begin(), found.ranks.end(), [](const auto& a, const auto& b) {
    constexpr int kMachine = 24;
    return std::tuple(a.key >> kMachine, a.lowest_gpu, a.key) <
           std::tuple(b.key >> kMachine, b.lowest_gpu, b.key);
  });
  found.others = std::max<int64_t>(0, all - static_cast<int64_t>(found.ranks.size()));
  TUTTI_RETURN_IF_ERROR(SetNames(database, found.ranks));
  TUTTI_RETURN_IF_ERROR(SetMpiRanks(database, found.ranks));
  if (found.ranks.size() == 1 && !found.ranks.front().rank) {
    SetFromEnvironment(database, found.ranks.front());
  }
  DropDoubtfulRanks(found.ranks);
  return found;
}

}  // namespace tutti::collector::importers::nsys
