#include "cli/completion_script.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace tutti::cli {
namespace {

// A command with what the scripts must cope with: quotes, brackets, colons.
CompletionVerb Command() {
  static CLI::App app("Test's [command]: all of it", "tutti");
  static std::string text;
  static bool flag = false;
  if (app.get_subcommands({}).empty()) {
    app.add_option("--color", text, "Don't: [auto]")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    CLI::App* report = app.add_subcommand("report", "Where's the time");
    report->add_option("--format", text, "text or json")->check(CLI::IsMember({"text", "json"}));
    report->add_flag("--strict", flag, "A $HOME `flag` with \\ in it");
    CLI::App* show = app.add_subcommand("config", "Options")->add_subcommand("show", "All");
    show->add_option("--kind", text, "one")->check(CLI::IsMember({"red", "blue"}));
  }
  return DescribeForCompletion(app);
}

struct Run {
  int exit_code;
  std::string output;
};

Run Shell(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer{};
  while (const size_t bytes = fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), bytes);
  }
  return {pclose(pipe), output};
}

// A script in a file of its own for the lifetime of the object.
class ScriptFile {
 public:
  explicit ScriptFile(const std::string& text) {
    std::string name = std::filesystem::temp_directory_path() / "tutti-completion-XXXXXX";
    close(mkstemp(name.data()));
    path = name;
    std::ofstream(path) << text;
  }
  ~ScriptFile() { std::filesystem::remove(path); }
  ScriptFile(const ScriptFile&) = delete;
  ScriptFile& operator=(const ScriptFile&) = delete;
  std::string path;
};

// What bash would offer after these words.
std::string BashOffers(const std::string& words) {
  const ScriptFile script(BashCompletion(Command()));
  const Run run = Shell("bash -c 'source " + script.path + "; COMP_WORDS=(" + words +
                        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _tutti; "
                        "echo -n \"${COMPREPLY[*]}\"'");
  EXPECT_EQ(run.exit_code, 0) << run.output;
  return run.output;
}

TEST(BashCompletion, OffersVerbsOptionsAndChoices) {
  EXPECT_EQ(BashOffers("tutti \"\""), "report config");
  EXPECT_EQ(BashOffers("tutti re"), "report");
  EXPECT_EQ(BashOffers("tutti report --f"), "--format");
  EXPECT_EQ(BashOffers("tutti report --"), "--help --format --strict --help --color");
  EXPECT_EQ(BashOffers("tutti report --format \"\""), "text json");
  EXPECT_EQ(BashOffers("tutti report --color a"), "auto always");
  EXPECT_EQ(BashOffers("tutti config \"\""), "show");
  EXPECT_EQ(BashOffers("tutti config show --k"), "--kind");
  EXPECT_EQ(BashOffers("tutti config show --kind \"\""), "red blue");
  EXPECT_EQ(BashOffers("tutti report config --k"), "") << "a run that is called config";
  EXPECT_EQ(BashOffers("tutti report runs"), "") << "files, which bash adds itself";
}

// Where the shell is installed, it must at least understand the script.
void ExpectUnderstood(const std::string& shell, const std::string& text) {
  if (Shell("command -v " + shell).exit_code != 0) GTEST_SKIP() << shell << " is not installed";
  const ScriptFile script(text);
  const Run run = Shell(shell + " -n " + script.path);
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_EQ(run.output, "");
}

TEST(BashCompletion, IsUnderstood) { ExpectUnderstood("bash", BashCompletion(Command())); }
TEST(ZshCompletion, IsUnderstood) { ExpectUnderstood("zsh", ZshCompletion(Command())); }
TEST(FishCompletion, IsUnderstood) { ExpectUnderstood("fish", FishCompletion(Command())); }

TEST(ZshCompletion, EscapesWhatIsSyntaxToIt) {
  const std::string text = ZshCompletion(Command());
  EXPECT_NE(text.find(R"('--color[Don'\''t\: \[auto\]]:value:(auto always never)')"),
            std::string::npos)
      << text;
}

TEST(ZshCompletion, GoesOnBelowAVerb) {
  const std::string text = ZshCompletion(Command());
  const size_t config = text.find(" config)\n");
  ASSERT_NE(config, std::string::npos) << text;
  EXPECT_NE(text.find("_arguments -C", config), std::string::npos) << text;
  EXPECT_NE(text.find("'show:All'", config), std::string::npos) << text;
  const size_t show = text.find(" show)\n", config);
  ASSERT_NE(show, std::string::npos) << text;
  EXPECT_NE(text.find("'--kind[one]:value:(red blue)'", show), std::string::npos) << text;
}

TEST(FishCompletion, HasChoicesAndDescriptions) {
  const std::string text = FishCompletion(Command());
  EXPECT_NE(text.find("complete -c tutti -n '__fish_seen_subcommand_from report' -l format -x -a "
                      "'text json' -d 'text or json'\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("complete -c tutti -f -n '__fish_seen_subcommand_from config' -a show"),
            std::string::npos);
}

}  // namespace
}  // namespace tutti::cli
