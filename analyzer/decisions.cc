#include "analyzer/decisions.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "common/text.h"

namespace tutti::analyzer {
namespace {

Result<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFoundError(path + ": " + std::strerror(errno));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (file.bad()) return IoError(path + ": " + std::strerror(errno));
  return text;
}

}  // namespace

Result<Decisions> DecisionsOf(const AnalyzeOptions& options) {
  Decisions decisions;
  decisions.options.trace_bytes = options.trace_bytes;
  decisions.options.step_range = options.step_range;
  if (!options.step_range.empty()) decisions.key = "step range: " + options.step_range + "\n";
  if (options.kernel_rules.empty()) return decisions;
  TUTTI_ASSIGN_OR_RETURN(const std::string text, ReadText(options.kernel_rules));
  TUTTI_ASSIGN_OR_RETURN(decisions.options.kernel_rules,
                         KernelRules::Parse(text, options.kernel_rules));
  decisions.key += "kernel rules:\n" + ToStorableText(text);
  return decisions;
}

}  // namespace tutti::analyzer
