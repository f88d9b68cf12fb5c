// tutti migrate: a run of an older version as one that this version would have written.
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/open_run.h"
#include "cli/verb.h"
#include "common/text.h"
#include "schema/schema.h"

namespace tutti::cli {
namespace {

using schema::MigratedFile;

struct MigrateArguments {
  std::string run;
  std::string output;
};

std::string TextOf(const std::string& output, const std::vector<MigratedFile>& files) {
  std::set<int64_t> versions;
  int64_t rows = 0;
  for (const MigratedFile& file : files) {
    versions.insert(file.from_version);
    rows += file.rows;
  }
  std::string from;
  for (const int64_t version : versions)
    from += (from.empty() ? "" : ", ") + std::to_string(version);
  return ToPrintableText(output) + ": " + std::to_string(files.size()) +
         (files.size() == 1 ? " trace, " : " traces, ") + std::to_string(rows) +
         " rows, from schema version " + from + " to " + std::to_string(schema::kSchemaVersion) +
         "\n";
}

std::string JsonOf(const std::string& output, const std::vector<MigratedFile>& files) {
  nlohmann::ordered_json json = {{"schema", "tutti.migrate/1"},
                                 {"run", ToStorableText(output)},
                                 {"to_version", schema::kSchemaVersion},
                                 {"files", nlohmann::ordered_json::array()}};
  for (const MigratedFile& file : files) {
    json["files"].push_back({{"file", ToStorableText(file.file)},
                             {"from_version", file.from_version},
                             {"rows", file.rows}});
  }
  return json.dump(2) + "\n";
}

Status Migrate(const MigrateArguments& arguments, bool json) {
  // A killed recording is finished first.
  TUTTI_ASSIGN_OR_RETURN(const std::string run, OpenRun(arguments.run));
  TUTTI_ASSIGN_OR_RETURN(const auto files, schema::MigrateRun(run, arguments.output));
  return WriteOut(json ? JsonOf(arguments.output, files) : TextOf(arguments.output, files));
}

}  // namespace

void AddMigrate(CLI::App& app, Invocation& invocation) {
  const auto arguments = std::make_shared<MigrateArguments>();
  CLI::App* verb =
      app.add_subcommand("migrate", "Copy a run of an older version into one of this version");
  verb->add_option("run", arguments->run, "A run's folder")->required()->option_text("RUN");
  verb->add_option("-o,--output", arguments->output, "The copy's folder, which must not be there")
      ->required()
      ->option_text("RUN");
  verb->callback([arguments, &invocation] {
    const Status status = Migrate(*arguments, invocation.json);
    if (!status.ok()) invocation.Fail(status);
  });
}

}  // namespace tutti::cli
