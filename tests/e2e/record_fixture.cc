#include "tests/e2e/record_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "collector/os/files.h"

namespace tutti::e2e {
namespace {

// "" if it is gone, as files of /proc may be.
std::string ReadFile(const std::string& path) {
  const auto text = collector::os::ReadSmallFile(path, 16 << 20);
  return text.ok() ? *text : std::string();
}

void Redirect(const std::string& path, int to) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(fd, to);
  ::close(fd);
}

void ChangeEnvironment(const std::vector<std::string>& changes) {
  for (const std::string& change : changes) {
    const size_t equals = change.find('=');
    if (equals == std::string::npos) {
      ::unsetenv(change.c_str());
    } else {
      ::setenv(change.substr(0, equals).c_str(), change.c_str() + equals + 1, 1);
    }
  }
}

// Variables of launchers that may be set around the tests.
const std::vector<std::string> kCleaned = {"RANK",        "LOCAL_RANK",     "WORLD_SIZE",
                                           "MASTER_ADDR", "MASTER_PORT",    "TUTTI_SESSION",
                                           "LD_PRELOAD",  "OMP_NUM_THREADS"};

}  // namespace

Running::Running(const std::vector<std::string>& argv, const std::vector<std::string>& environment,
                 const std::string& directory) {
  static int number = 0;
  const std::string base = directory + "/output." + std::to_string(number++);
  out_path_ = base + ".out";
  err_path_ = base + ".err";
  std::vector<char*> pointers;
  for (const std::string& text : argv) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  pid_ = ::fork();
  EXPECT_GE(pid_, 0);
  if (pid_ != 0) return;
  Redirect("/dev/null", STDIN_FILENO);
  Redirect(out_path_, STDOUT_FILENO);
  Redirect(err_path_, STDERR_FILENO);
  ChangeEnvironment(kCleaned);
  ::setenv("TUTTI_TRACER", TUTTI_TRACER_LIBRARY, 1);
  ChangeEnvironment(environment);
  ::execvp(pointers[0], pointers.data());
  ::_exit(127);
}

std::string Running::OutSoFar() const { return ReadFile(out_path_); }

std::string Running::ErrSoFar() const { return ReadFile(err_path_); }

Finished Running::Wait() {
  if (pid_ <= 1) return {};
  int status = 0;
  pid_t ended = 0;
  for (int waited_ms = 0; ended == 0 && waited_ms < 60'000; waited_ms += 2) {
    ended = ::waitpid(pid_, &status, WNOHANG);
    if (ended == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (ended == 0) {
    ADD_FAILURE() << "process " << pid_ << " did not end";
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status, 0);
  }
  Finished finished;
  finished.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  finished.out = ReadFile(out_path_);
  finished.err = ReadFile(err_path_);
  return finished;
}

RecordTest::RecordTest() {
  char path[] = "/tmp/tutti-e2e-XXXXXX";
  EXPECT_NE(::mkdtemp(path), nullptr);
  directory_ = path;
}

RecordTest::~RecordTest() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::string RecordTest::Emitter() { return TUTTI_EMITTER; }

std::vector<std::string> RecordTest::RecordCommand(const std::vector<std::string>& options,
                                                   const std::vector<std::string>& command) const {
  std::vector<std::string> argv{TUTTI_PROGRAM, "record", "-o", Path("run"), "--buffer", "4M"};
  argv.insert(argv.end(), options.begin(), options.end());
  argv.emplace_back("--");
  argv.insert(argv.end(), command.begin(), command.end());
  return argv;
}

Running RecordTest::Start(const std::vector<std::string>& options,
                          const std::vector<std::string>& command,
                          const std::vector<std::string>& environment) {
  return Running(RecordCommand(options, command), environment, directory_);
}

Finished RecordTest::Record(const std::vector<std::string>& options,
                            const std::vector<std::string>& command,
                            const std::vector<std::string>& environment) {
  return Start(options, command, environment).Wait();
}

schema::Database RecordTest::Open(const std::string& file) {
  auto database = schema::Database::OpenTrusted(Path("run/" + file));
  EXPECT_TRUE(database.ok()) << database.status().message();
  if (!database.ok()) return std::move(*schema::Database::OpenMemory());
  return std::move(*database);
}

int64_t RecordTest::Number(schema::Database& database, const std::string& sql) {
  const auto number = database.QueryOne<std::optional<int64_t>>(sql);
  EXPECT_TRUE(number.ok()) << sql << ": " << number.status().message();
  return number.ok() ? number->value_or(-1) : -1;
}

std::string RecordTest::Text(schema::Database& database, const std::string& sql) {
  const auto text = database.QueryOne<std::optional<std::string>>(sql);
  EXPECT_TRUE(text.ok()) << sql << ": " << text.status().message();
  return text.ok() ? text->value_or("(null)") : "(none)";
}

// Not recursive: the spool's directories come and go while a recording is finished.
std::vector<std::string> RecordTest::Files() const {
  std::vector<std::string> files;
  const auto add = [&files](const std::filesystem::path& directory, const std::string& prefix) {
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(directory, gone)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file(gone) && !name.starts_with('.')) files.push_back(prefix + name);
    }
  };
  add(Path("run"), "");
  for (int attempt = 1; std::filesystem::exists(Path("run/attempt-" + std::to_string(attempt)));
       ++attempt) {
    const std::string name = "attempt-" + std::to_string(attempt);
    add(Path("run/" + name), name + "/");
  }
  std::sort(files.begin(), files.end());
  return files;
}

const Progress* RecordTest::MapProgress(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_GE(fd, 0) << path;
  void* memory = ::mmap(nullptr, sizeof(Progress), PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  EXPECT_NE(memory, MAP_FAILED);
  return static_cast<const Progress*>(memory);  // as long as the test program
}

void RecordTest::ExpectWholeSequence(schema::Database& database, const Progress& progress,
                                     uint32_t thread) {
  const std::string where = "FROM v_cpu_op WHERE end_ns IS NOT NULL AND name = '" +
                            std::string(kSequencePrefix) + std::to_string(thread) + "'";
  const auto published = static_cast<int64_t>(progress.published[thread].load());
  const int64_t count = Number(database, "SELECT count(*) " + where);
  EXPECT_GE(count, published);
  EXPECT_LE(count, published + 1);
  if (count == 0) return;
  EXPECT_EQ(Number(database, "SELECT count(DISTINCT sequence_nr) " + where), count);
  EXPECT_EQ(Number(database, "SELECT min(sequence_nr) " + where), 0);
  EXPECT_EQ(Number(database, "SELECT max(sequence_nr) " + where), count - 1);
}

void RecordTest::SleepMs(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

void RecordTest::Kill(int64_t pid, int signal) {
  ASSERT_GT(pid, 1);
  ::kill(static_cast<pid_t>(pid), signal);
}

std::optional<pid_t> RecordTest::DrainerOf(pid_t recorder) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string pid = entry.path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string stat = ReadFile(entry.path().string() + "/stat");
    const std::string expected = pid + " (tutti-drainer) ";
    if (!stat.starts_with(expected)) continue;
    std::istringstream fields(stat.substr(expected.size()));
    std::string state;
    pid_t parent = 0;
    fields >> state >> parent;
    if (parent == recorder && state != "Z") return static_cast<pid_t>(std::stol(pid));
  }
  return std::nullopt;
}

}  // namespace tutti::e2e
