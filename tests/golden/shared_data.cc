#include "tests/golden/shared_data.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "collector/import.h"

namespace tutti::golden {

std::string SharedFolder() {
  const char* const chosen = std::getenv("TUTTI_SHARED");
  const std::string folder =
      chosen != nullptr ? chosen : std::string(TUTTI_SOURCE_DIR) + "/../shared";
  return std::filesystem::is_directory(folder + "/traces") ? folder : "";
}

ImportedRun::ImportedRun(const std::vector<std::string>& traces) {
  collector::ImportOptions options;
  for (const std::string& trace : traces) {
    options.inputs.push_back(SharedFolder() + "/traces/" + trace);
  }
  options.output = scratch_.Path("run");
  const Result<collector::ImportReport> report = collector::Import(options);
  if (!report.ok() || report->traces.size() < traces.size()) {  // one file may hold many ranks
    std::fprintf(stderr, "golden: %s\n",
                 report.ok() ? "not every trace was imported" : report.status().message().c_str());
    std::abort();
  }
  path_ = report->run_path;
}

std::string ImportedRun::RankFile(int rank) const {
  char name[32];
  std::snprintf(name, sizeof(name), "/rank-%05d.sqlite", rank);
  return path_ + name;
}

}  // namespace tutti::golden
