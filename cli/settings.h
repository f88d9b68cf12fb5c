// Where an option's value comes from when the command line does not give it:
//
//   flag > its variable (TUTTI_…) > ./tutti.toml > ~/.config/tutti/config.toml > default
//
// --config FILE stands for ./tutti.toml. In the files, options of a verb are in a section
// with the verb's name; a name that no option has is an error, so that a misspelt one is
// not silently without effect. Not thread-safe; reads environment and files while the
// command line is parsed.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tutti::cli {

struct Setting {
  std::string name;    // "color", "report.format"
  std::string value;   // as text; empty: none
  std::string origin;  // "flag", "TUTTI_COLOR", a file's path, "default"
};

class Settings {
 public:
  // Adds --config to the application, all of whose verbs and options must outlive it.
  static std::shared_ptr<Settings> Install(CLI::App& app);

  // Every option that can be set, after the command line was parsed: the application's
  // own first, then verb by verb.
  std::vector<Setting> List() const;

  // The command line itself gave the option.
  bool IsFlag(const CLI::Option& option) const {
    return !option.empty() && !choices_.contains(&option);
  }

 private:
  friend class LayeredConfig;
  explicit Settings(CLI::App& app) : app_(app) {}

  struct Choice {
    std::string value;
    std::string origin;
  };
  CLI::App& app_;
  std::map<const CLI::Option*, Choice> choices_;  // of options that no flag gave
};

}  // namespace tutti::cli
