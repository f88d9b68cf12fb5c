#include "analyzer/mpi/analyze_mpi.h"

#include <mpi.h>

#include <filesystem>

#include "analyzer/decisions.h"
#include "analyzer/mpi/mpi_team.h"
#include "analyzer/run_files.h"

namespace tutti::analyzer {
namespace {

// MPI for as long as this lives. Threads read files, but none but the first calls MPI.
class MpiScope {
 public:
  MpiScope() {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  }
  ~MpiScope() { MPI_Finalize(); }
  MpiScope(const MpiScope&) = delete;
  MpiScope& operator=(const MpiScope&) = delete;
};

Result<MpiAnalysis> Lead(const std::string& run_or_file, AnalyzeOptions options) {
  TUTTI_ASSIGN_OR_RETURN(const RunFiles files, FindRunFiles(run_or_file));
  TUTTI_ASSIGN_OR_RETURN(Decisions decisions, DecisionsOf(options));
  const std::string parts = (options.output.empty() ? files.analysis : options.output) + ".parts";
  std::error_code error;
  std::filesystem::create_directory(parts, error);
  // For the same eyes as the result.
  if (!error) std::filesystem::permissions(parts, std::filesystem::perms::owner_all, error);
  if (error) return IoError(parts + ": " + error.message());
  mpi::MpiTeam team(std::move(decisions), parts);
  options.team = &team;
  TUTTI_ASSIGN_OR_RETURN(const Analysis analysis, Analyze(run_or_file, options));
  std::filesystem::remove_all(parts, error);
  if (error) return IoError(parts + ": " + error.message());
  return MpiAnalysis{true, analysis.path, team.resumed()};
}

}  // namespace

Result<MpiAnalysis> AnalyzeWithMpi(const std::string& run_or_file, const AnalyzeOptions& options) {
  const MpiScope scope;
  int process = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  if (process != 0) {
    mpi::Serve(options);
    return MpiAnalysis{};
  }
  Result<MpiAnalysis> analysis = Lead(run_or_file, options);
  mpi::Dismiss();
  return analysis;
}

}  // namespace tutti::analyzer
