#include "cli/settings.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

namespace tutti::cli {
namespace {

constexpr const char* kLocalFile = "tutti.toml";
constexpr const char* kNoFile = "/dev/null";  // CLI11 asks for the layers only with a file

// Empty where the variable is not set.
std::string Variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? "" : value;
}

std::string UserFile() {
  const std::string config_home = Variable("XDG_CONFIG_HOME");
  if (!config_home.empty()) return config_home + "/tutti/config.toml";
  const std::string home = Variable("HOME");
  return home.empty() ? "" : home + "/.config/tutti/config.toml";
}

using OptionVisitor = std::function<void(const std::string&, const CLI::Option&)>;

void VisitOptions(const CLI::App& part, const std::string& verb, const OptionVisitor& visitor) {
  for (const CLI::Option* option : part.get_options({})) {
    const bool is_plain = option->get_configurable() && !option->get_lnames().empty() &&
                          option != part.get_help_ptr() && option != part.get_config_ptr();
    if (is_plain) visitor(verb, *option);
  }
  for (const CLI::App* below : part.get_subcommands({})) {
    VisitOptions(*below, verb.empty() ? below->get_name() : verb + "." + below->get_name(),
                 visitor);
  }
}

// Calls visitor(verb, option) for every option that can be set: verb is "" for those of the
// application itself, "ci.run" for those of a verb below another.
void ForEachOption(const CLI::App& app, const OptionVisitor& visitor) {
  VisitOptions(app, "", visitor);
}

// "ci.run" -> "ci", "run".
std::vector<std::string> PartsOf(const std::string& verb) {
  std::vector<std::string> parts;
  for (size_t begin = 0; !verb.empty() && begin != std::string::npos;) {
    const size_t dot = verb.find('.', begin);
    parts.push_back(verb.substr(begin, dot - begin));
    begin = dot == std::string::npos ? dot : dot + 1;
  }
  return parts;
}

std::string FullName(const std::string& verb, const CLI::Option& option) {
  return verb.empty() ? option.get_lnames().front() : verb + "." + option.get_lnames().front();
}

std::string Joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ",") + value;
  return text;
}

}  // namespace

// Hands CLI11, which uses the first value it sees for an option, the layers in their order.
class LayeredConfig : public CLI::ConfigBase {  // which reads TOML
 public:
  explicit LayeredConfig(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& file) const override {
    std::vector<CLI::ConfigItem> layers = FromVariables();
    const CLI::App& app = settings_->app_;
    Append(layers, ConfigBase::from_config(file), app.get_config_ptr()->as<std::string>());
    const std::string user_path = UserFile();
    std::ifstream user_file(user_path);
    if (user_file.good()) Append(layers, ConfigBase::from_config(user_file), user_path);
    return layers;
  }

 private:
  std::vector<CLI::ConfigItem> FromVariables() const {
    std::vector<CLI::ConfigItem> layers;
    ForEachOption(settings_->app_, [&](const std::string& verb, const CLI::Option& option) {
      const std::string variable = option.get_envname();
      const std::string value = variable.empty() ? "" : Variable(variable);
      if (value.empty()) return;
      CLI::ConfigItem item;
      item.parents = PartsOf(verb);
      item.name = option.get_lnames().front();
      item.inputs = {value};
      Remember(option, item, variable);
      layers.push_back(std::move(item));
    });
    return layers;
  }

  void Append(std::vector<CLI::ConfigItem>& layers, std::vector<CLI::ConfigItem> found,
              const std::string& path) const {
    for (CLI::ConfigItem& item : found) {
      if (item.name == "++" || item.name == "--") continue;  // a section begins, ends
      const CLI::Option* option = OptionOf(item);
      if (option == nullptr) {
        throw CLI::ConfigError(path + ": there is no option " + item.fullname(),
                               CLI::ExitCodes::ConfigError);
      }
      Remember(*option, item, path);
      layers.push_back(std::move(item));
    }
  }

  const CLI::Option* OptionOf(const CLI::ConfigItem& item) const {
    const CLI::Option* found = nullptr;
    ForEachOption(settings_->app_, [&](const std::string& verb, const CLI::Option& option) {
      if (option.check_lname(item.name) && FullName(verb, option) == item.fullname()) {
        found = &option;
      }
    });
    return found;
  }

  // The first layer wins, and a flag over all of them.
  void Remember(const CLI::Option& option, const CLI::ConfigItem& item,
                const std::string& origin) const {
    if (option.empty()) settings_->choices_.insert({&option, {Joined(item.inputs), origin}});
  }

  std::shared_ptr<Settings> settings_;
};

std::shared_ptr<Settings> Settings::Install(CLI::App& app) {
  std::shared_ptr<Settings> settings(new Settings(app));
  const bool has_file = std::filesystem::exists(kLocalFile);
  app.set_config("--config", has_file ? kLocalFile : kNoFile,
                 "Read options from this file (default: ./tutti.toml)")
      ->option_text("FILE");
  app.config_formatter(std::make_shared<LayeredConfig>(settings));
  return settings;
}

std::vector<Setting> Settings::List() const {
  std::vector<Setting> settings;
  ForEachOption(app_, [&](const std::string& verb, const CLI::Option& option) {
    const bool is_flag = option.get_expected_min() == 0;
    Setting setting{FullName(verb, option), is_flag ? "false" : option.get_default_str(),
                    "default"};
    const auto choice = choices_.find(&option);
    if (choice != choices_.end()) {
      setting.value = choice->second.value;
      setting.origin = choice->second.origin;
    } else if (IsFlag(option)) {
      setting.value = Joined(option.results());
      setting.origin = "flag";
    }
    settings.push_back(std::move(setting));
  });
  return settings;
}

}  // namespace tutti::cli
