#include "cli/completion_script.h"

#include <cctype>
#include <string_view>

namespace tutti::cli {
namespace {

// "TEXT:text|json|md" or "TEXT:{text,json,md}" -> text, json, md: the words that an
// option's validators allow, if its type names them.
std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  std::string list = type.substr(type.find(':') == std::string::npos ? 0 : type.find(':') + 1);
  const bool braces = list.size() > 2 && list.front() == '{' && list.back() == '}';
  if (braces) list = list.substr(1, list.size() - 2);
  std::vector<std::string> words(1);
  for (const char c : list) {
    if (c == (braces ? ',' : '|')) {
      words.emplace_back();
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_') {
      words.back() += c;
    } else {
      return {};
    }
  }
  return words.size() > 1 ? words : std::vector<std::string>();
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::string OptionNames(const CompletionVerb& verb) {
  std::vector<std::string> names;
  for (const CompletionOption& option : verb.options) names.push_back(option.name);
  return Joined(names);
}

std::string VerbNames(const CompletionVerb& verb) {
  std::vector<std::string> names;
  for (const CompletionVerb& below : verb.verbs) names.push_back(below.name);
  return Joined(names);
}

// In single quotes, which all three shells understand alike but for the quote itself.
std::string Quoted(std::string_view text, std::string_view escaped = "") {
  std::string quoted = "'";
  for (const char c : text) {
    if (escaped.find(c) != std::string_view::npos) quoted += '\\';
    quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return quoted + "'";
}

void AddBashChoices(const CompletionVerb& verb, const std::string& pattern, std::string& text) {
  for (const CompletionOption& option : verb.options) {
    if (option.choices.empty()) continue;
    text += "    " + pattern + ":" + option.name + ") words=" + Quoted(Joined(option.choices)) +
            " ;;\n";
  }
}

// "'--format[text, json or md]:value:(text json md)'" for _arguments.
std::string ZshOption(const CompletionOption& option) {
  std::string spec = option.name + "[";
  for (const char c : option.description) {
    if (std::string_view("[]:\\").find(c) != std::string_view::npos) spec += '\\';
    spec += c;
  }
  spec += "]";
  if (!option.choices.empty()) {
    spec += ":value:(" + Joined(option.choices) + ")";
  } else if (option.takes_value) {
    spec += ":value:_files";
  }
  return Quoted(spec);
}

std::string ZshOptions(const CompletionVerb& verb) {
  std::string text;
  for (const CompletionOption& option : verb.options) text += " \\\n      " + ZshOption(option);
  return text;
}

void AddFishOptions(const CompletionVerb& verb, const std::string& condition, std::string& text) {
  for (const CompletionOption& option : verb.options) {
    text += "complete -c tutti" + condition + " -l " + option.name.substr(2);
    if (!option.choices.empty()) {
      text += " -x -a " + Quoted(Joined(option.choices), "\\");
    } else if (option.takes_value) {
      text += " -r";
    }
    text += " -d " + Quoted(option.description, "\\") + "\n";
  }
}

}  // namespace

CompletionVerb DescribeForCompletion(const CLI::App& app) {
  CompletionVerb verb{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options({})) {
    if (option->get_lnames().empty()) continue;
    verb.options.push_back({"--" + option->get_lnames().front(), option->get_description(),
                            option->get_expected_min() > 0, ChoicesOf(*option)});
  }
  for (const CLI::App* below : app.get_subcommands({})) {
    verb.verbs.push_back(DescribeForCompletion(*below));
  }
  return verb;
}

namespace {

// A verb with the words that lead to it: "ci run".
struct VerbPath {
  std::string words;
  const CompletionVerb* verb;
};

void AddPaths(const CompletionVerb& above, const std::string& words, std::vector<VerbPath>& paths) {
  for (const CompletionVerb& verb : above.verbs) {
    const std::string path = words.empty() ? verb.name : words + " " + verb.name;
    paths.push_back({path, &verb});
    AddPaths(verb, path, paths);
  }
}

// What completes the words behind a verb, in the verbs below it, too.
void AddZshVerb(const CompletionVerb& verb, const std::string& indent, std::string& text) {
  if (verb.verbs.empty()) {
    text += indent + "_arguments" + ZshOptions(verb) + " '*:file:_files'\n";
    return;
  }
  text += indent + "verbs=(\n";
  for (const CompletionVerb& below : verb.verbs) {
    text += indent + "  " + Quoted(below.name + ":" + below.description) + "\n";
  }
  text += indent + ")\n" + indent + "_arguments -C" + ZshOptions(verb) +
          " \\\n    '1:verb:->verb' '*::argument:->arguments'\n" + indent + "case $state in\n" +
          indent + "  verb) _describe verb verbs ;;\n" + indent +
          "  arguments) case $words[1] in\n";
  for (const CompletionVerb& below : verb.verbs) {
    text += indent + "    " + below.name + ")\n";
    AddZshVerb(below, indent + "      ", text);
    text += indent + "      ;;\n";
  }
  text += indent + "  esac ;;\n" + indent + "esac\n";
}

}  // namespace

std::string BashCompletion(const CompletionVerb& command) {
  std::vector<VerbPath> paths;
  AddPaths(command, "", paths);
  std::string known;
  for (const VerbPath& path : paths) known += (known.empty() ? "" : "|") + Quoted(path.words);
  std::string text =
      "# Completion of tutti for bash: source <(tutti completion bash)\n"
      "_tutti() {\n"
      "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
      "  local verb='' words='' options='' i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"${verb:+$verb }${COMP_WORDS[i]}\" in\n"
      "      " +
      known +
      ") verb=\"${verb:+$verb }${COMP_WORDS[i]}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$verb\" in\n"
      "    '') words=" +
      Quoted(VerbNames(command)) + " options=" + Quoted(OptionNames(command)) + " ;;\n";
  for (const auto& [words, verb] : paths) {
    text += "    " + Quoted(words) + ") words=" + Quoted(VerbNames(*verb)) +
            " options=" + Quoted(OptionNames(*verb) + " " + OptionNames(command)) + " ;;\n";
  }
  text +=
      "  esac\n"
      "  [[ $current == -* ]] && words=$options\n"
      "  case \"$verb:$previous\" in\n";
  AddBashChoices(command, "*", text);
  for (const auto& [words, verb] : paths) AddBashChoices(*verb, Quoted(words), text);
  text +=
      "  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "}\n"
      "complete -o default -F _tutti tutti\n";
  return text;
}

std::string ZshCompletion(const CompletionVerb& command) {
  std::string text =
      "#compdef tutti\n"
      "# Completion of tutti for zsh: source <(tutti completion zsh)\n"
      "_tutti() {\n"
      "  local -a verbs\n"
      "  local state line\n";
  AddZshVerb(command, "  ", text);
  return text +
         "}\n"
         "compdef _tutti tutti\n";
}

std::string FishCompletion(const CompletionVerb& command) {
  std::string text = "# Completion of tutti for fish: tutti completion fish | source\n";
  AddFishOptions(command, "", text);
  for (const CompletionVerb& verb : command.verbs) {
    text += "complete -c tutti -f -n __fish_use_subcommand -a " + verb.name + " -d " +
            Quoted(verb.description, "\\") + "\n";
    const std::string seen = " -n '__fish_seen_subcommand_from " + verb.name + "'";
    AddFishOptions(verb, seen, text);
    for (const CompletionVerb& below : verb.verbs) {
      text += "complete -c tutti -f" + seen + " -a " + below.name + " -d " +
              Quoted(below.description, "\\") + "\n";
      AddFishOptions(below,
                     " -n '__fish_seen_subcommand_from " + verb.name +
                         "; and __fish_seen_subcommand_from " + below.name + "'",
                     text);
    }
  }
  return text;
}

}  // namespace tutti::cli
