// The command as a user meets it: what it prints, where, and what it returns.
#include <gtest/gtest.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "schema/rows.h"
#include "schema/testing/scratch.h"
#include "schema/writer.h"

namespace tutti::cli {
namespace {

namespace fs = std::filesystem;
using schema::testing::Scratch;

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

std::string Quoted(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Two ranks with one step each, in a folder that is the working directory.
class Verbs : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(run_);
    fs::create_directories(scratch_.Path("home"));
    for (int64_t rank = 0; rank < 2; ++rank) {
      std::unique_ptr<schema::TraceWriter> writer =
          *schema::TraceWriter::Create(run_ + "/rank-0000" + std::to_string(rank) + ".sqlite");
      ASSERT_TRUE(writer->Append(schema::StringRow{.id = 1, .text = "evil\x1b[2J"}).ok());
      ASSERT_TRUE(writer
                      ->Append(schema::StepRow{.id = 0,
                                               .number = 10,
                                               .tid = 1,
                                               .begin_ns = 100,
                                               .end_ns = 150 + rank,
                                               .origin = "annotate"})
                      .ok());
      ASSERT_TRUE(writer->Finalize().ok());
    }
  }

  // Runs `tutti ARGUMENTS` under `environment` (assignments before the command).
  Outcome Tutti(const std::string& arguments, const std::string& environment = "") {
    const std::string out = scratch_.Path("out");
    const std::string err = scratch_.Path("err");
    const std::string command = "cd " + Quoted(scratch_.Path("")) + " && env -u NO_COLOR -u " +
                                "CLICOLOR_FORCE XDG_CONFIG_HOME=" + Quoted(scratch_.Path("home")) +
                                " " + environment + " " TUTTI_COMMAND " " + arguments + " >" +
                                Quoted(out) + " 2>" + Quoted(err) + " </dev/null";
    const int status = system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Contents(out), Contents(err)};
  }
  Outcome Query(const std::string& sql, const std::string& options = "") {
    return Tutti("query " + Quoted(run_) + " " + Quoted(sql) + " " + options);
  }

  Scratch scratch_;
  std::string run_ = scratch_.Path("run");
};

TEST_F(Verbs, QueryPrintsTabsToAPipe) {
  const Outcome outcome = Query("SELECT rank, number, duration_ns FROM v_step");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "rank\tnumber\tduration_ns\n0\t10\t50\n1\t10\t51\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Verbs, QueryPrintsCsvAndJson) {
  EXPECT_EQ(Query("SELECT rank, origin FROM step", "--format csv").out,
            "rank,origin\r\n0,annotate\r\n1,annotate\r\n");
  for (const char* option : {"--format json", "--json"}) {
    const auto json = nlohmann::json::parse(Query("SELECT rank FROM step", option).out);
    EXPECT_EQ(json["schema"], "tutti.query/1");
    EXPECT_EQ(json["columns"][0]["type"], "INTEGER");
    EXPECT_EQ(json["rows"][1]["rank"], 1);
  }
  EXPECT_TRUE(nlohmann::json::accept(Tutti("--json query run 'SELECT 1'").out));
}

// The same on a terminal of its own.
std::string OnTerminal(const std::string& command) {
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t bytes; (bytes = read(terminal, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<size_t>(bytes));
  }
  waitpid(child, nullptr, 0);
  close(terminal);
  std::erase(text, '\r');
  return text;
}

TEST_F(Verbs, QueryAlignsAndColoursOnATerminalOnly) {
  const std::string query = " " TUTTI_COMMAND " query " + Quoted(run_) +
                            " \"SELECT origin, duration_ns * 100 AS ns FROM v_step\"";
  const std::string plain = "origin      ns\nannotate  5000\nannotate  5100\n";
  const std::string bold = "\x1b[1morigin      ns\x1b[0m\nannotate  5000\nannotate  5100\n";
  EXPECT_EQ(OnTerminal("env -u NO_COLOR TERM=xterm" + query), bold);
  EXPECT_EQ(OnTerminal("env NO_COLOR=1 TERM=xterm" + query), plain);
  EXPECT_EQ(OnTerminal("env -u NO_COLOR TERM=dumb" + query), plain);
  EXPECT_EQ(OnTerminal("env NO_COLOR=1 TERM=xterm" + query + " --color always"), bold);
  EXPECT_EQ(OnTerminal("env -u NO_COLOR TERM=xterm" + query + " --color never"), plain);
}

TEST_F(Verbs, QueryReadsSqlFromStandardInput) {
  const std::string sql = scratch_.Path("query.sql");
  std::ofstream(sql) << "SELECT count(*) AS n\nFROM step; -- both ranks\n";
  const std::string command =
      "cd " + Quoted(scratch_.Path("")) + " && " TUTTI_COMMAND " query run - <query.sql >out";
  EXPECT_EQ(system(command.c_str()), 0);
  EXPECT_EQ(Contents(scratch_.Path("out")), "n\n2\n");
}

TEST_F(Verbs, OpensARunBehindALinkWithoutComplaining) {
  fs::create_symlink("run", scratch_.Path("link"));
  const Outcome outcome = Tutti("report link");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Verbs, ImportSaysInOneLineWhatAFileIsCalled) {
  std::ofstream(scratch_.Path("a\nb\u202E.json")) << R"({"traceEvents": []})";
  std::ofstream(scratch_.Path("c\nd.json")) << "none";
  const Outcome outcome =
      Tutti("import " + Quoted("a\nb\u202E.json") + " " + Quoted("c\nd.json") + " -o new");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_NE(outcome.out.find("a b\uFFFD.json"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.err.find("tutti: c d.json: not in a format"), 0U) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
}

TEST_F(Verbs, ImportDiesOfTheSignalThatInterruptsIt) {
  std::ofstream file(scratch_.Path("long.json"));
  file << "[";
  for (int i = 0; i < 2'000'000; ++i) {
    file << R"({"ph":"X","cat":"cpu_op","name":"a","ts":1,"dur":2,"pid":1,"tid":1},)"
            "\n";
  }
  file.close();
  // As soon as it has begun. Not SIGINT, which a shell has what it starts beside itself ignore.
  const std::string command = "cd " + Quoted(scratch_.Path("")) + " && { " + TUTTI_COMMAND +
                              " import long.json -o new 2>err & } && "
                              "while [ ! -e new ] && kill -0 $!; do sleep 0.01; done; "
                              "kill $!; wait $!; test $? = 143";
  EXPECT_EQ(system(command.c_str()), 0);
  EXPECT_EQ(Contents(scratch_.Path("err")), "tutti: interrupted; nothing was imported\n");
  EXPECT_FALSE(fs::exists(scratch_.Path("new")));
}

TEST_F(Verbs, QueryLetsNothingSteerTheTerminal) {
  for (const char* format : {"table", "csv", "json"}) {
    const Outcome outcome = Query("SELECT text FROM string", std::string("--format ") + format);
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("evil"), std::string::npos) << outcome.out;
  }
}

TEST_F(Verbs, QuerySaysInOneLineWhatIsWrongWithTheSql) {
  const struct {
    const char* sql;
    const char* message;
  } kCases[] = {
      {"SELECT missing FROM step", "tutti: no such column: missing\n"},
      {"SELEC 1", "tutti: near \"SELEC\": syntax error\n"},
      {"SELECT 1; SELECT 2", "tutti: more than one SQL statement given\n"},
      {"", "tutti: no SQL statement given\n"},
      {"DROP TABLE step", "tutti: only statements that read are allowed\n"},
      {"SELECT * FROM stepp", "tutti: no such table: stepp; tutti schema lists them\n"},
      {"SELECT * FROM finding", "tutti: no such table: finding; it is made by: tutti analyze "},
  };
  for (const auto& test : kCases) {
    const Outcome outcome = Query(test.sql);
    EXPECT_EQ(outcome.exit_code, 2) << test.sql;
    EXPECT_EQ(outcome.out, "") << test.sql;
    EXPECT_EQ(outcome.err.rfind(test.message, 0), 0u) << test.sql << ": " << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

TEST_F(Verbs, QuerySaysWhichFileIsBad) {
  EXPECT_EQ(Tutti("query nowhere 'SELECT 1'").exit_code, 3);
  const std::string path = run_ + "/rank-00001.sqlite";
  std::ofstream(path, std::ios::trunc) << std::string(5000, 'x');
  const Outcome outcome = Query("SELECT count(*) FROM step");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err, "tutti: " + path + ": not an SQLite database\n");
  EXPECT_EQ(Query("SELECT count(*) AS n FROM step WHERE rank = 0").out, "n\n1\n");
}

TEST_F(Verbs, QueryMakesNoHugeValues) {
  const Outcome outcome = Query("SELECT zeroblob(1000000000)");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.err, "tutti: a value is larger than this build reads (16 MiB)\n");
}

TEST_F(Verbs, JsonBesideAnotherFormatIsRefused) {
  const Outcome both = Query("SELECT 1 AS one", "--json --format csv");
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_EQ(both.out, "");
  EXPECT_NE(both.err.find("--json: is short for --format json, but another --format was given too"),
            std::string::npos)
      << both.err;
  for (const char* verb : {"report", "compare"}) {
    EXPECT_EQ(Tutti(std::string(verb) + " " + Quoted(run_) + " --format md --json").exit_code, 2);
  }
  EXPECT_EQ(Query("SELECT 1 AS one", "--json --format json").exit_code, 0);
  // A habit that a variable keeps gives way to what is asked for now.
  const Outcome asked =
      Tutti("query " + Quoted(run_) + " 'SELECT 1 AS one' --json", "TUTTI_QUERY_FORMAT=csv");
  EXPECT_EQ(asked.exit_code, 0);
  EXPECT_EQ(asked.out.front(), '{');
}

TEST_F(Verbs, ANegativeCountIsRefusedInPlainWords) {
  const Outcome negative = Tutti("report " + Quoted(run_) + " --max-loss -1");
  EXPECT_EQ(negative.exit_code, 2);
  EXPECT_EQ(negative.err,
            "tutti: --max-loss: must be 0 or more, not -1 (tutti --help shows the usage)\n");
}

TEST_F(Verbs, QueryNeedsItsArguments) {
  EXPECT_EQ(Tutti("query").exit_code, 2);
  const std::string hint = " (tutti --help shows the usage)\n";
  EXPECT_EQ(Tutti("").err, "tutti: a verb is missing" + hint);
  EXPECT_EQ(Tutti("asq run").err, "tutti: asq: there is no such verb" + hint);
  EXPECT_EQ(Tutti("query run 'SELECT 1' --format xml").err,
            "tutti: --format: \"xml\" is none of table, csv, json" + hint);
  EXPECT_EQ(Tutti("query run 'SELECT 1' --format xml").exit_code, 2);
  EXPECT_EQ(Tutti("").exit_code, 2);
  EXPECT_EQ(Tutti("no-such-verb").exit_code, 2);
}

TEST_F(Verbs, QueryFailsWhenItsOutputCantBeWritten) {
  const std::string command = "cd " + Quoted(scratch_.Path("")) +
                              " && " TUTTI_COMMAND " query run 'SELECT 1' >/dev/full 2>err";
  const int status = system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_NE(Contents(scratch_.Path("err")).find("standard output"), std::string::npos);
}

TEST_F(Verbs, VersionAndHelpGoToStandardOutput) {
  const Outcome version = Tutti("--version");
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.out.rfind("tutti ", 0), 0u) << version.out;
  EXPECT_EQ(version.err, "");
  const Outcome help = Tutti("--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* verb : {"record", "report", "analyze", "query", "schema", "config"}) {
    EXPECT_NE(help.out.find(std::string("\n  ") + verb), std::string::npos) << help.out;
  }
}

TEST_F(Verbs, SchemaListsTablesAndColumns) {
  const Outcome all = Tutti("schema");
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_NE(all.out.find("\ncpu_op "), std::string::npos) << all.out;
  EXPECT_NE(Tutti("schema cpu_op").out.find("autograd sequence number"), std::string::npos);
  EXPECT_NE(Tutti("schema --sql").out.find("CREATE TABLE cpu_op ("), std::string::npos);
  EXPECT_EQ(Tutti("schema step --sql").out.rfind("-- Training steps", 0), 0u);
  EXPECT_EQ(Tutti("schema step --markdown").out.rfind("### step\n", 0), 0u);
  const auto json = nlohmann::json::parse(Tutti("schema step --json").out);
  EXPECT_EQ(json["tables"][0]["columns"][1]["name"], "number");
  const Outcome unknown = Tutti("schema stepp");
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_EQ(Tutti("schema nothing --json").exit_code, 2);
}

TEST_F(Verbs, SchemaPrintsTheReferenceOfDocs) {
  EXPECT_EQ(Tutti("schema --markdown").out.rfind("# Schema reference\n", 0), 0u);
}

TEST_F(Verbs, ConfigShowsWhatSetEachOption) {
  std::ofstream(scratch_.Path("tutti.toml")) << "[query]\nformat = \"csv\"\n";
  const Outcome outcome = Tutti("config show --origin", "TUTTI_COLOR=never");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto has = [&](const std::string& start, const std::string& end) {
    const size_t at = outcome.out.find(start);
    if (at == std::string::npos) return false;
    const std::string line = outcome.out.substr(at, outcome.out.find('\n', at) - at);
    return line.ends_with(end);
  };
  EXPECT_TRUE(has("color = \"never\"", "# TUTTI_COLOR")) << outcome.out;
  EXPECT_TRUE(has("query.format = \"csv\"", "# tutti.toml")) << outcome.out;
  EXPECT_TRUE(has("report.strict = \"false\"", "# default")) << outcome.out;
  EXPECT_TRUE(has("record.buffer = \"64M\"", "# default")) << outcome.out;
  EXPECT_EQ(Query("SELECT rank FROM step WHERE rank = 1").out, "rank\r\n1\r\n")
      << "and it has its effect";
  EXPECT_EQ(Query("SELECT rank FROM step WHERE rank = 1", "--format table").out, "rank\n1\n");
  const auto json = nlohmann::json::parse(Tutti("config show --json").out);
  EXPECT_EQ(json["schema"], "tutti.config/1");
}

TEST_F(Verbs, AMisspeltOptionInAFileIsAnError) {
  std::ofstream(scratch_.Path("tutti.toml")) << "[query]\nfmt = \"csv\"\n";
  const Outcome outcome = Query("SELECT 1");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.err.rfind("tutti: tutti.toml: there is no option query.fmt", 0), 0u)
      << outcome.err;
}

TEST_F(Verbs, DoctorSaysOfEachCheckWhatItFound) {
  const Outcome text = Tutti("doctor " + Quoted(run_));
  EXPECT_NE(text.out.find("clock_source"), std::string::npos) << text.err;
  EXPECT_NE(text.out.find("torch_version"), std::string::npos);
  const Outcome outcome = Tutti("doctor --json");
  const auto json = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << outcome.out;
  EXPECT_EQ(json["schema"], "tutti.doctor/1");
  bool has_problem = false;
  for (const auto& check : json["checks"]) has_problem |= check["health"] == "problem";
  EXPECT_EQ(outcome.exit_code, has_problem ? 1 : 0);
  const Outcome missing = Tutti("doctor --data /nonexistent");
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_EQ(missing.err, "tutti: /nonexistent: no such file or folder\n");
}

TEST_F(Verbs, CompletionPrintsScripts) {
  EXPECT_NE(Tutti("completion bash").out.find("complete -o default -F _tutti tutti"),
            std::string::npos);
  EXPECT_EQ(Tutti("completion zsh").out.rfind("#compdef tutti", 0), 0u);
  EXPECT_NE(Tutti("completion fish").out.find("complete -c tutti"), std::string::npos);
  EXPECT_EQ(Tutti("completion tcsh").exit_code, 2);
  const std::string words = Tutti("completion bash").out;
  EXPECT_NE(words.find("'query':--format) words='table csv json'"), std::string::npos) << words;
}

TEST_F(Verbs, ImportSaysWhatItCannotReadAndLeavesNothing) {
  std::ofstream(scratch_.Path("notes.txt")) << "no trace";
  const Outcome outcome = Tutti("import notes.txt -o imported");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err.rfind("tutti: notes.txt: not in a format that tutti reads", 0), 0u)
      << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1);
  EXPECT_FALSE(fs::exists(scratch_.Path("imported")));
}

TEST_F(Verbs, ReportSaysOfAForeignFileThatItIsNoTrace) {
  std::ofstream(scratch_.Path("notes.txt")) << "no trace";
  std::ofstream(scratch_.Path("empty.sqlite")) << "";
  fs::create_directory(scratch_.Path("folder"));
  const std::string cache = "XDG_CACHE_HOME=" + scratch_.Path("cache");
  const Outcome text = Tutti("report notes.txt", cache);
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_EQ(text.err.rfind("tutti: notes.txt: not in a format that tutti reads", 0), 0u)
      << text.err;
  EXPECT_EQ(Tutti("report empty.sqlite", cache).err, "tutti: empty.sqlite: the file is empty\n");
  EXPECT_EQ(Tutti("report folder", cache).err, "tutti: folder: no trace files there\n");
  EXPECT_EQ(Tutti("report none", cache).err, "tutti: none: there is no such file or directory\n");
}

TEST_F(Verbs, MigrateCopiesARunAndReplacesNothing) {
  const std::string from = "migrate " + Quoted(run_);
  const Outcome outcome = Tutti(from + " -o new");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.rfind("new: 2 traces, ", 0), 0u) << outcome.out;
  EXPECT_EQ(Tutti("query new 'SELECT sum(end_ns) AS s FROM step' --format csv").out,
            Query("SELECT sum(end_ns) AS s FROM step", "--format csv").out);
  EXPECT_EQ(Tutti(from + " -o new").exit_code, 2);
  EXPECT_EQ(Tutti("migrate nothing -o other").exit_code, 3);
  const auto json = nlohmann::json::parse(Tutti(from + " -o other --json").out, nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["schema"], "tutti.migrate/1");
  EXPECT_EQ(json["files"].size(), 2u);
}

TEST_F(Verbs, EnvPrintsWhatALauncherHasToHandOn) {
  EXPECT_EQ(Tutti("env", "TUTTI_SESSION=").exit_code, 2);
  const std::string below = R"(CUDA_INJECTION64_PATH= NCCL_PROFILER_PLUGIN= LD_PRELOAD= )"
                            R"(TUTTI_SESSION=/s:00 NVTX_INJECTION64_PATH="/it's")";
  EXPECT_EQ(Tutti("env", below).out,
            "export TUTTI_SESSION='/s:00'\nexport NVTX_INJECTION64_PATH='/it'\\''s'\n");
  EXPECT_EQ(Tutti("env --format names", below).out, "TUTTI_SESSION,NVTX_INJECTION64_PATH\n");
  EXPECT_EQ(Tutti("env --format docker", below).out,
            "--env=TUTTI_SESSION\n--env=NVTX_INJECTION64_PATH\n");
  const auto json = nlohmann::json::parse(Tutti("env --json", below).out, nullptr, false);
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["variables"]["NVTX_INJECTION64_PATH"], "/it's");
}

TEST_F(Verbs, ImportNeedsInput) { EXPECT_EQ(Tutti("import").exit_code, 2); }

}  // namespace
}  // namespace tutti::cli
