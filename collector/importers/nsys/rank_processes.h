// Which processes of an export are ranks, and which rank each of them is as far as the
// export tells. A process is a rank if it ran work on a GPU; if none did, if it called
// CUDA or marked NVTX ranges. Launchers, shells, loader workers and the profiler's own
// processes, of which exports list hundreds, are not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collector/importers/nsys/export_database.h"
#include "collector/importers/nsys/global_id.h"
#include "common/status.h"

namespace tutti::collector::importers::nsys {

struct RankProcess {
  ProcessKey key = 0;
  std::string name;                   // of the program; empty unknown
  int64_t lowest_gpu = 0;             // physical where told, else as the process numbers it
  std::optional<int64_t> rank;        // global rank
  std::optional<int64_t> local_rank;  // rank on its node
  std::optional<int64_t> world_size;
  std::string rank_source;  // what told the rank, e.g. 'MPI_RANKS', 'RANK'
};

struct RankProcesses {
  // In a stable order: machine, lowest GPU, process id. Never empty if the export has any
  // event: rows that name no process belong to the only one, or to one made up for them.
  std::vector<RankProcess> ranks;
  int64_t others = 0;  // processes with events that are no ranks
};

// kBadData if there are more than 1,024 ranks, or no events at all.
Result<RankProcesses> FindRankProcesses(ExportDatabase& database);

}  // namespace tutti::collector::importers::nsys
