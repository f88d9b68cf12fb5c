#include "collector/importers/import_manifest.h"

#include <nlohmann/json.hpp>

#include "collector/os/file_descriptor.h"
#include "collector/os/files.h"
#include "collector/run/manifest.h"
#include "collector/run/redact.h"
#include "collector/version.h"

namespace tutti::collector::importers {
namespace {

using Json = nlohmann::ordered_json;

Json TraceJson(const ImportedTrace& trace) {
  return {{"file", trace.file},
          {"rank", trace.rank},
          {"rank_assumed", trace.is_assumed},
          {"rank_conflict", trace.is_conflict},
          {"sources", trace.sources},
          {"events", trace.events},
          {"events_skipped", trace.events_skipped}};
}

}  // namespace

Status WriteImportManifest(const std::vector<ImportedTrace>& traces,
                           const std::vector<std::string>& command, const std::string& run_path) {
  Json json = {{"schema", "tutti.manifest/1"},
               {"tutti_version", kVersion},
               {"origin", "import"},
               {"state", "finished"},
               {"argv", run::RedactArguments(command)},
               {"ranks_expected", nullptr},
               {"ranks_found", traces.size()},
               {"ranks", Json::array()}};
  for (const ImportedTrace& trace : traces) json["ranks"].push_back(TraceJson(trace));
  const std::string path = run_path + "/manifest.d";
  TUTTI_RETURN_IF_ERROR(os::MakeDirectories(path));
  TUTTI_ASSIGN_OR_RETURN(const os::FileDescriptor directory, os::OpenDirectory(path));
  return os::WriteFileAtomically(directory.get(), "import." + run::ManifestName(),
                                 json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace tutti::collector::importers
