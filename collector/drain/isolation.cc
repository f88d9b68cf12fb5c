#include "collector/drain/isolation.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace tutti::collector::drain {
namespace {

// Ctrl-C and the end of a terminal session are meant for the job; a full disk or a file
// size limit (SIGXFSZ) is reported by write(2).
void IgnoreSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ}) {
    ::signal(signal, SIG_IGN);
  }
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void Redirect(int from, const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd < 0) return;
  ::dup2(fd, from);
  ::close(fd);
}

// The lowest share of the CPU that still is one: rings are emptied even when training
// keeps every core busy, yet waking up never takes a core from it.
void LowerPriority() {
  ::setpriority(PRIO_PROCESS, 0, 19);
  const sched_param none{};
  (void)::sched_setscheduler(0, SCHED_BATCH, &none);  // refused at worst: nice remains
}

}  // namespace

void Isolate(const std::string& log_directory) {
  ::prctl(PR_SET_NAME, "tutti-drainer");
  ::setpgid(0, 0);
  IgnoreSignals();
  Redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  Redirect(STDOUT_FILENO, "/dev/null", O_WRONLY);
  Redirect(STDERR_FILENO, log_directory + "/drainer.log",
           O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW);
  LowerPriority();
}

}  // namespace tutti::collector::drain
