// tutti env: the variables of a recording, for launchers that don't hand their environment on.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/choice.h"
#include "cli/verb.h"
#include "collector/collector.h"
#include "common/text.h"

namespace tutti::cli {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

enum class EnvFormat { kShell, kDocker, kNames, kJson };

// As a word of a shell.
std::string Quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string Rendered(const Variables& variables, EnvFormat format) {
  if (format == EnvFormat::kJson) {
    nlohmann::ordered_json values = nlohmann::ordered_json::object();
    for (const auto& [name, value] : variables) values[name] = ToStorableText(value);
    return nlohmann::ordered_json{{"schema", "tutti.env/1"}, {"variables", values}}.dump(2) + "\n";
  }
  std::string text;
  for (const auto& [name, value] : variables) {
    if (format == EnvFormat::kShell) text += "export " + name + "=" + Quoted(value) + "\n";
    if (format == EnvFormat::kDocker) text += "--env=" + name + "\n";
    if (format == EnvFormat::kNames) text += (text.empty() ? "" : ",") + name;
  }
  return format == EnvFormat::kNames ? text + "\n" : text;
}

Status PrintEnv(EnvFormat format) {
  const Variables variables = collector::InjectedVariables();
  if (variables.empty()) {
    return UsageError(
        "nothing is recorded here: tutti env is for what runs below tutti record, such as "
        "tutti record -- sh -c 'mpirun -x $(tutti env --format names | sed \"s/,/ -x /g\") …'");
  }
  return WriteOut(Rendered(variables, format));
}

}  // namespace

void AddEnv(CLI::App& app, Invocation& invocation) {
  const auto format = std::make_shared<EnvFormat>(EnvFormat::kShell);
  CLI::App* verb = app.add_subcommand(
      "env", "Below tutti record: print the variables that a launcher has to hand on");
  verb->add_option("--format", *format,
                   "sh: lines to evaluate; docker: options of docker run, podman run; names: by "
                   "commas, for srun --export; json (schema tutti.env/1)")
      ->transform(OneOf<EnvFormat>({{"sh", EnvFormat::kShell},
                                    {"docker", EnvFormat::kDocker},
                                    {"names", EnvFormat::kNames},
                                    {"json", EnvFormat::kJson}}))
      ->option_text("sh|docker|names|json");
  invocation.formats.push_back(
      {verb->get_option("--format"), [format] { return *format == EnvFormat::kJson; }});
  verb->callback([format, &invocation] {
    const Status status = PrintEnv(invocation.json ? EnvFormat::kJson : *format);
    if (!status.ok()) invocation.Fail(status);
  });
}

}  // namespace tutti::cli
