#include "collector/supervise/child.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "collector/os/file_descriptor.h"

namespace tutti::collector::supervise {
namespace {

bool IsFile(const std::string& path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

StartFailure FailureOf(const std::string& program, int error) {
  const int status = error == ENOENT ? kExitNotFound : kExitNotRunnable;
  return {status, program + ": " + std::generic_category().message(error)};
}

// In the child between fork and exec: only async-signal-safe calls. Does not return.
// |shell_argv|: how a shell would run a file that is no program, as execvp does.
[[noreturn]] void Execute(const char* path, char* const* argv, char* const* shell_argv,
                          char* const* environment, const SignalState& signals, int report) {
  ::sigaction(SIGCHLD, &signals.child_action, nullptr);
  ::sigaction(SIGPIPE, &signals.pipe_action, nullptr);
  ::sigaction(SIGXFSZ, &signals.size_action, nullptr);
  ::sigprocmask(SIG_SETMASK, &signals.mask, nullptr);
  ::execve(path, argv, environment);
  if (errno == ENOEXEC) ::execve(shell_argv[0], shell_argv, environment);
  const int error = errno;
  (void)!::write(report, &error, sizeof(error));
  ::_exit(kExitNotRunnable);
}

// The error that exec ended with, 0 if it did not fail.
int ReadReport(int report) {
  int error = 0;
  ssize_t got;
  do {
    got = ::read(report, &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(error) ? error : 0;
}

}  // namespace

std::string FindProgram(const std::string& program, const Environment& environment) {
  if (program.find('/') != std::string::npos) return program;
  const char* variable = ValueOf(environment, "PATH");
  std::string_view path = variable == nullptr ? "/bin:/usr/bin" : variable;
  std::string found;
  for (;;) {
    const size_t colon = path.find(':');
    const std::string directory(path.substr(0, colon));
    const std::string candidate = (directory.empty() ? "." : directory) + "/" + program;
    if (IsFile(candidate)) {
      if (::access(candidate.c_str(), X_OK) == 0) return candidate;
      if (found.empty()) found = candidate;  // as a shell: not runnable beats not found
    }
    if (colon == std::string_view::npos) return found;
    path.remove_prefix(colon + 1);
  }
}

StartedChild StartChild(const std::vector<std::string>& argv, const Environment& environment,
                        const SignalState& signals) {
  const std::string path = FindProgram(argv.front(), environment);
  if (path.empty()) return {-1, FailureOf(argv.front(), ENOENT)};
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {-1, FailureOf(argv.front(), errno)};
  const os::FileDescriptor report(ends[0]);
  os::FileDescriptor reporter(ends[1]);
  std::vector<std::string> shell_argv{"/bin/sh", path};
  shell_argv.insert(shell_argv.end(), argv.begin() + 1, argv.end());
  const std::vector<char*> arguments = Pointers(argv);
  const std::vector<char*> shell_arguments = Pointers(shell_argv);
  const std::vector<char*> variables = Pointers(environment);
  const pid_t pid = ::fork();
  if (pid < 0) return {-1, FailureOf(argv.front(), errno)};
  if (pid == 0) {
    Execute(path.c_str(), arguments.data(), shell_arguments.data(), variables.data(), signals,
            reporter.get());
  }
  reporter.Reset();
  const int error = ReadReport(report.get());
  if (error == 0) return {pid, std::nullopt};
  int unused;
  while (::waitpid(pid, &unused, 0) < 0 && errno == EINTR) {
  }
  return {-1, FailureOf(argv.front(), error)};
}

int32_t ExitStatusOf(int wait_status) {
  if (WIFSIGNALED(wait_status)) return 128 + WTERMSIG(wait_status);
  return WEXITSTATUS(wait_status);
}

}  // namespace tutti::collector::supervise
