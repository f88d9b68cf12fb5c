#include "cli/open_launch.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "analyzer/analyze.h"
#include "cli/open_run.h"
#include "cli/progress.h"

namespace tutti::cli {
namespace {

namespace cmp = analyzer::compare;

Status CheckDistinct(std::vector<std::string> runs) {
  std::error_code error;
  for (std::string& run : runs) {
    const auto path = std::filesystem::weakly_canonical(run, error);
    if (!error) run = path.string();
  }
  std::ranges::sort(runs);
  const auto twice = std::ranges::adjacent_find(runs);
  if (twice == runs.end()) return OkStatus();
  return UsageError(*twice + " is given twice on one side: a launch counts once");
}

}  // namespace

Result<cmp::Launch> OpenLaunch(const std::string& name) {
  TUTTI_ASSIGN_OR_RETURN(auto times, cmp::ReadStepTimes(name));
  if (times && times->launch) return std::move(*times->launch);
  if (times) return UsageError(name + " holds pairs of runs: give it alone");
  TUTTI_ASSIGN_OR_RETURN(const std::string run, OpenRun(name));
  TUTTI_ASSIGN_OR_RETURN(const analyzer::Analysis analysis,
                         analyzer::EnsureAnalyzed(run, WithProgress()));
  TUTTI_ASSIGN_OR_RETURN(cmp::Launch launch, cmp::ReadLaunch(analysis.path, name));
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(run, error);
  cmp::ReadSurroundings(
      is_folder ? run : std::filesystem::path(analysis.path).parent_path().string(), launch);
  return launch;
}

Result<std::vector<cmp::Launch>> OpenLaunches(const std::vector<std::string>& names) {
  TUTTI_RETURN_IF_ERROR(CheckDistinct(names));
  std::vector<cmp::Launch> launches;
  for (const std::string& name : names) {
    TUTTI_ASSIGN_OR_RETURN(cmp::Launch launch, OpenLaunch(name));
    launches.push_back(std::move(launch));
  }
  return launches;
}

}  // namespace tutti::cli
