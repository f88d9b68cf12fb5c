#include "collector/session/program_name.h"

#include <algorithm>
#include <cstddef>

namespace tutti::collector::session {
namespace {

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// python, python3, python3.11, pypy3.
bool IsPython(std::string_view program) {
  for (const std::string_view name : {"python", "pypy"}) {
    if (!program.starts_with(name)) continue;
    return std::all_of(program.begin() + static_cast<ptrdiff_t>(name.size()), program.end(),
                       [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
  }
  return false;
}

// Of Python's options, those whose value is the next argument.
bool TakesValue(std::string_view option) {
  return option == "-W" || option == "-X" || option == "--check-hash-based-pycs";
}

// The script of Python's arguments, the program left out; empty if there is none.
std::string_view ScriptOf(const std::vector<std::string>& arguments) {
  for (size_t at = 1; at < arguments.size(); ++at) {
    const std::string_view argument = arguments[at];
    if (argument == "-c" || argument == "-") return {};
    if (argument == "-m") return at + 1 < arguments.size() ? arguments[at + 1] : std::string_view();
    if (!argument.starts_with('-')) return BaseName(argument);
    if (TakesValue(argument)) ++at;
  }
  return {};
}

}  // namespace

std::vector<std::string> SplitCommandLine(std::string_view cmdline) {
  std::vector<std::string> arguments;
  while (!cmdline.empty()) {
    const size_t end = std::min(cmdline.find('\0'), cmdline.size());
    arguments.emplace_back(cmdline.substr(0, end));
    cmdline.remove_prefix(std::min(end + 1, cmdline.size()));
  }
  return arguments;
}

std::string ProgramName(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return {};
  const std::string_view program = BaseName(arguments.front());
  const std::string_view script = IsPython(program) ? ScriptOf(arguments) : std::string_view();
  return std::string(script.empty() ? program : script);
}

}  // namespace tutti::collector::session
