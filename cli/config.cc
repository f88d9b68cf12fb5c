// tutti config: what options are set to, and by what.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/settings.h"
#include "cli/verb.h"
#include "common/text.h"

namespace tutti::cli {
namespace {

std::string AsJson(const std::vector<Setting>& settings) {
  nlohmann::ordered_json options = nlohmann::ordered_json::array();
  for (const Setting& setting : settings) {
    options.push_back(
        {{"name", setting.name}, {"value", setting.value}, {"origin", setting.origin}});
  }
  const nlohmann::ordered_json document = {{"schema", "tutti.config/1"}, {"options", options}};
  return document.dump(2, ' ', /*ensure_ascii=*/true,
                       nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

std::string AsText(const std::vector<Setting>& settings, bool with_origin) {
  size_t width = 0;
  std::vector<std::string> lines;
  for (const Setting& setting : settings) {
    lines.push_back(ToPrintableText(setting.name + " = \"" + setting.value + "\""));
    width = std::max(width, lines.back().size());
  }
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i) {
    text += lines[i];
    if (with_origin) {
      text +=
          std::string(width - lines[i].size(), ' ') + "  # " + ToPrintableText(settings[i].origin);
    }
    text += '\n';
  }
  return text;
}

}  // namespace

void AddConfig(CLI::App& app, Invocation& invocation) {
  const auto with_origin = std::make_shared<bool>(false);
  CLI::App* config = app.add_subcommand("config", "Show what options are set to");
  config->require_subcommand(1);
  CLI::App* show = config->add_subcommand("show", "Every option that can be set, with its value");
  show->add_flag("--origin", *with_origin, "Say what set it: flag, variable, file or default")
      ->configurable(false);
  show->callback([with_origin, &invocation] {
    const std::vector<Setting> settings = invocation.settings->List();
    const Status written =
        WriteOut(invocation.json ? AsJson(settings) : AsText(settings, *with_origin));
    if (!written.ok()) invocation.Fail(written);
  });
}

}  // namespace tutti::cli
