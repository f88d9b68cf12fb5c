#include "collector/campaign/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

#include "collector/os/file_descriptor.h"
#include "collector/os/files.h"
#include "collector/os/interruption.h"
#include "collector/supervise/child.h"

namespace tutti::collector::campaign {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kGrace = std::chrono::seconds(15);  // between a signal and SIGKILL
constexpr int kLookEveryMs = 100;

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// In the child between fork and exec: only async-signal-safe calls. Does not return. It has a
// process group of its own, so that a terminal's Ctrl-C reaches it once, through us.
[[noreturn]] void Execute(char* const* argv, const char* directory, int output, int input,
                          int report) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
  bool ready = ::dup2(input, STDIN_FILENO) >= 0 && ::dup2(output, STDOUT_FILENO) >= 0 &&
               ::dup2(output, STDERR_FILENO) >= 0;
  ready = ready && (*directory == '\0' || ::chdir(directory) == 0);
  if (ready) ::execvp(argv[0], argv);
  const int error = errno;
  (void)!::write(report, &error, sizeof(error));
  ::_exit(supervise::kExitNotRunnable);
}

struct Started {
  pid_t pid = -1;
  os::FileDescriptor pidfd;
};

Result<Started> Start(const ChildRequest& request, int output) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return os::ErrnoStatus("pipe", errno);
  const os::FileDescriptor report(ends[0]);
  os::FileDescriptor reporter(ends[1]);
  const os::FileDescriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::vector<char*> argv = Pointers(request.argv);
  const pid_t pid = ::fork();
  if (pid < 0) return os::ErrnoStatus("fork", errno);
  if (pid == 0) {
    Execute(argv.data(), request.directory.c_str(), output, input.get(), reporter.get());
  }
  reporter.Reset();
  int error = 0;
  ssize_t got;
  do {
    got = ::read(report.get(), &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  if (got == sizeof(error)) {
    ::waitpid(pid, nullptr, 0);
    return os::ErrnoStatus(request.argv.front(), error);
  }
  os::FileDescriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.valid()) return os::ErrnoStatus("pidfd_open", errno);
  return Started{pid, std::move(pidfd)};
}

// Waits for its end; ends it when its time is over or a signal came for us.
ChildOutcome Await(const Started& child, int64_t timeout_ns) {
  const auto begin = Clock::now();
  auto kill_at = Clock::time_point::max();
  ChildOutcome outcome;
  pollfd watched{child.pidfd.get(), POLLIN, 0};
  while (::poll(&watched, 1, kLookEveryMs) <= 0) {
    const auto now = Clock::now();
    if (now >= kill_at) ::kill(-child.pid, SIGKILL);
    if (kill_at != Clock::time_point::max()) continue;
    const int signal = os::Interruption::Signal();
    outcome.interrupted = signal != 0;
    outcome.timed_out = timeout_ns > 0 && now - begin >= std::chrono::nanoseconds(timeout_ns);
    if (!outcome.interrupted && !outcome.timed_out) continue;
    ::kill(child.pid, outcome.interrupted ? signal : SIGTERM);
    kill_at = now + kGrace;
  }
  int wait_status = 0;
  while (::waitpid(child.pid, &wait_status, 0) < 0 && errno == EINTR) {
  }
  outcome.exit_status = supervise::ExitStatusOf(wait_status);
  outcome.wall_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
  // A signal that the child had for itself, or that came as it ended.
  outcome.interrupted = outcome.interrupted || os::Interruption::Signal() != 0;
  return outcome;
}

}  // namespace

std::string ChildOutcome::InWords() const {
  if (interrupted) return "interrupted";
  if (timed_out) return "no end after " + std::to_string(wall_ns / 1'000'000'000) + " s";
  return exit_status > 128 && exit_status < 128 + 65
             ? "exit status " + std::to_string(exit_status) + " (signal " +
                   std::to_string(exit_status - 128) + ")"
             : "exit status " + std::to_string(exit_status);
}

Result<ChildOutcome> RunChild(const ChildRequest& request) {
  const os::FileDescriptor output(
      ::open(request.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!output.valid()) return os::ErrnoStatus(request.log, errno);
  TUTTI_ASSIGN_OR_RETURN(const Started child, Start(request, output.get()));
  return Await(child, request.timeout_ns);
}

Result<std::string> OutputOf(const std::vector<std::string>& argv, const std::string& directory) {
  const char* home = ::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): one thread
  std::string path = std::string(home == nullptr || *home == '\0' ? "/tmp" : home) + "/tuttiXXXXXX";
  const os::FileDescriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.valid()) return os::ErrnoStatus(path, errno);
  auto outcome = RunChild({.argv = argv, .directory = directory, .log = path});
  constexpr size_t kMostBytes = 64 << 20;
  auto text = os::ReadSmallFile(path, kMostBytes);
  ::unlink(path.c_str());
  TUTTI_RETURN_IF_ERROR(outcome.status());
  TUTTI_RETURN_IF_ERROR(text.status());
  while (text->ends_with('\n')) text->pop_back();
  if (!outcome->ok()) return IoError(argv.front() + ": " + outcome->InWords() + ": " + *text);
  return *std::move(text);
}

}  // namespace tutti::collector::campaign
