#include "viewer/app/script.h"

#include <array>
#include <sstream>

namespace tutti::viewer {
namespace {

struct Verb {
  std::string_view name;
  size_t least_words;
};
constexpr std::array<Verb, 17> kVerbs = {{{"goto", 1},
                                          {"zoom", 2},
                                          {"search", 0},
                                          {"select", 1},
                                          {"command", 1},
                                          {"theme", 1},
                                          {"size", 1},
                                          {"filter", 0},
                                          {"move", 2},
                                          {"click", 2},
                                          {"drag", 4},
                                          {"wheel", 3},
                                          {"key", 1},
                                          {"type", 1},
                                          {"frames", 1},
                                          {"png", 1},
                                          {"dump", 1}}};

}  // namespace

Result<std::vector<ScriptLine>> ParseScript(std::string_view text) {
  std::vector<ScriptLine> lines;
  std::istringstream input{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(input, line); ++number) {
    std::istringstream words(line);
    ScriptLine parsed;
    parsed.number = number;
    if (!(words >> parsed.verb) || parsed.verb.front() == '#') continue;
    std::getline(words >> std::ws, parsed.rest);
    std::istringstream rest(parsed.rest);
    for (std::string word; rest >> word;) parsed.words.push_back(word);
    const Verb* known = nullptr;
    for (const Verb& verb : kVerbs) {
      if (verb.name == parsed.verb) known = &verb;
    }
    const std::string place = "script line " + std::to_string(number) + ": ";
    if (known == nullptr) return UsageError(place + "there is no action '" + parsed.verb + "'");
    if (parsed.words.size() < known->least_words) {
      return UsageError(place + "'" + parsed.verb + "' needs " +
                        std::to_string(known->least_words) +
                        (known->least_words == 1 ? " word" : " words"));
    }
    lines.push_back(std::move(parsed));
  }
  return lines;
}

}  // namespace tutti::viewer
