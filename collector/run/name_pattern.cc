#include "collector/run/name_pattern.h"

#include <unistd.h>

#include <initializer_list>

#include "collector/os/proc.h"

namespace tutti::collector::run {
namespace {

Result<std::string> FirstSet(GetVariable get, std::initializer_list<const char*> names,
                             const char* pattern) {
  for (const char* name : names) {
    const char* value = get(name);
    if (value != nullptr && *value != '\0') return std::string(value);
  }
  return UsageError(std::string(pattern) +
                    " in the output name: no variable of a launcher tells it");
}

Result<std::string> Rank(GetVariable get) {
  return FirstSet(get,
                  {"RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK",
                   "FLUX_TASK_RANK", "SLURM_PROCID"},
                  "%r");
}

Result<std::string> Size(GetVariable get) {
  return FirstSet(get,
                  {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE",
                   "FLUX_JOB_SIZE", "SLURM_NTASKS"},
                  "%s");
}

Result<std::string> Job(GetVariable get) {
  return FirstSet(get, {"SLURM_JOB_ID", "FLUX_JOB_ID", "PBS_JOBID", "LSB_JOBID"}, "%j");
}

// The text of %q{NAME}; |rest| begins behind the q and is moved behind the brace.
Result<std::string> Variable(std::string_view& rest, GetVariable get) {
  const size_t close = rest.find('}');
  if (!rest.starts_with('{') || close == std::string_view::npos) {
    return UsageError("%q in the output name: write it as %q{NAME}");
  }
  const std::string name(rest.substr(1, close - 1));
  rest.remove_prefix(close + 1);
  const char* value = get(name.c_str());
  if (value == nullptr) return UsageError("%q{" + name + "} in the output name: it is not set");
  return std::string(value);
}

Result<std::string> Expanded(char letter, int number, std::string_view& rest, GetVariable get) {
  switch (letter) {
    case 'h':
      return os::HostName();
    case 'p':
      return std::to_string(::getpid());
    case 'q':
      return Variable(rest, get);
    case 'n':
      return std::to_string(number);
    case 'r':
      return Rank(get);
    case 's':
      return Size(get);
    case 'j':
      return Job(get);
    case '%':
      return std::string("%");
    default:
      return UsageError(std::string("%") + letter +
                        " in the output name: known are %h %p %q{NAME} %n %r %s %j %%");
  }
}

}  // namespace

bool HasNumber(std::string_view pattern) {
  for (size_t at = pattern.find('%'); at != std::string_view::npos && at + 1 < pattern.size();
       at = pattern.find('%', at + 2)) {
    if (pattern[at + 1] == 'n') return true;
  }
  return false;
}

Result<std::string> ExpandName(std::string_view pattern, int number, GetVariable get) {
  std::string name;
  while (!pattern.empty()) {
    const size_t percent = pattern.find('%');
    name += pattern.substr(0, percent);
    if (percent == std::string_view::npos) return name;
    pattern.remove_prefix(percent + 1);
    if (pattern.empty()) return UsageError("a single % at the end of the output name: write %%");
    const char letter = pattern.front();
    pattern.remove_prefix(1);
    TUTTI_ASSIGN_OR_RETURN(const std::string text, Expanded(letter, number, pattern, get));
    name += text;
  }
  return name;
}

}  // namespace tutti::collector::run
