// Completion scripts for shells, made from the application's own tree of options, so that
// they can't be out of date. Pure functions; callable from any thread.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tutti::cli {

struct CompletionOption {
  std::string name;  // "--format"
  std::string description;
  bool takes_value = false;
  std::vector<std::string> choices;  // of the value, where only some words are allowed
};

// A verb, or the command itself.
struct CompletionVerb {
  std::string name;
  std::string description;
  std::vector<CompletionOption> options;
  std::vector<CompletionVerb> verbs;  // below it
};

CompletionVerb DescribeForCompletion(const CLI::App& app);

std::string BashCompletion(const CompletionVerb& command);
std::string ZshCompletion(const CompletionVerb& command);
std::string FishCompletion(const CompletionVerb& command);

}  // namespace tutti::cli
