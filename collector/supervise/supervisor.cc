#include "collector/supervise/supervisor.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "collector/clock/clock_reading.h"
#include "collector/os/files.h"
#include "common/wire/segment.h"

namespace tutti::collector::supervise {
namespace {

constexpr int kRelayed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

// When one of several local ranks fails the others hang in their next collective. They
// get a while to notice by themselves, then what torchrun would send them.
constexpr int64_t kTermAfterNs = 5'000'000'000;
constexpr int64_t kKillAfterNs = 35'000'000'000;

// Silences a tracer whose drainer will not come back.
void StopCapture(int memfd) {
  void* page = ::mmap(nullptr, wire::kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
  if (page == MAP_FAILED) return;
  static_cast<wire::SegmentHeader*>(page)->capture_mask.store(0, std::memory_order_relaxed);
  ::munmap(page, wire::kPageBytes);
}

}  // namespace

void Say(const std::string& text) {
  const std::string line = "tutti: " + text + "\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

Supervisor::Supervisor(session::RegistrarSettings registrar, drain::DrainerSettings drainer,
                       os::FileDescriptor listener, std::vector<int> drainer_keeps)
    : registrar_(std::move(registrar),
                 [this](session::Registration admitted) { OnAccepted(std::move(admitted)); }),
      drainer_(std::move(drainer), std::move(drainer_keeps)),
      listener_(std::move(listener)) {}

Status Supervisor::TakeSignals() {
  sigset_t taken;
  ::sigemptyset(&taken);
  ::sigaddset(&taken, SIGCHLD);
  for (const int signal : kRelayed) ::sigaddset(&taken, signal);
  if (::sigprocmask(SIG_BLOCK, &taken, &signals_.mask) != 0)
    return os::ErrnoStatus("signals", errno);
  // Whoever started us may have ignored it; then children could not be waited for.
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &action, &signals_.child_action);
  // A line for a standard error that nobody reads any more must not end us, nor a limit
  // on the size of files, which holds for buffers too.
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, &signals_.pipe_action);
  ::sigaction(SIGXFSZ, &action, &signals_.size_action);
  signal_fd_.Reset(::signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK));
  return signal_fd_.valid() ? OkStatus() : os::ErrnoStatus("signalfd", errno);
}

bool Supervisor::AllChildrenEnded() const {
  return std::all_of(children_.begin(), children_.end(),
                     [](const Child& child) { return child.exit_status.has_value(); });
}

bool Supervisor::Finished() const {
  return AllChildrenEnded() && !drainer_.running() && (drainer_finished_ || gave_up_);
}

int32_t Supervisor::Run() {
  while (!Finished()) {
    Wait();
    HandleSignals();
    if (listener_.valid()) registrar_.Accept(listener_.get());
    registrar_.HandleWaiting();
    HandleDrainer();
    RestartDrainer();
    EndStragglers();
    if (AllChildrenEnded() && drainer_.running() && !std::exchange(told_command_ended_, true)) {
      listener_.Reset();  // whoever comes now outlives the command; nobody would drain it
      drainer_.Send(drain::MakeMessage(drain::MessageKind::kCommandEnded));
    }
  }
  summary_.processes = registrar_.accepted();
  summary_.gave_up = registrar_.gave_up();
  return first_failure_.value_or(0);
}

void Supervisor::Wait() {
  std::vector<pollfd> wanted{{signal_fd_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  const short drainer_events = drainer_.wants_to_send() ? POLLIN | POLLOUT : POLLIN;
  wanted.push_back({drainer_.channel(), drainer_events, 0});
  for (const os::FileDescriptor& waiting : registrar_.waiting()) {
    wanted.push_back({waiting.get(), POLLIN, 0});
  }
  const bool has_deadline = restart_drainer_ns_ || first_failure_ || !registrar_.waiting().empty();
  ::poll(wanted.data(), wanted.size(), has_deadline ? 20 : -1);
}

void Supervisor::OnAccepted(session::Registration registration) {
  Held held;
  held.message.index = registration.index;
  held.message.is_child = std::any_of(children_.begin(), children_.end(), [&](const Child& child) {
    return child.pid == registration.process.peer_pid;
  });
  held.message.process = registration.process;
  held.message.first_reading = registration.first_reading;
  held.memfd = std::move(registration.memfd);
  held.pidfd = std::move(registration.pidfd);
  SendSegment(held);
  held_.emplace(registration.index, std::move(held));
}

void Supervisor::SendSegment(const Held& held) {
  drain::Message message = drain::MakeMessage(drain::MessageKind::kSegment);
  message.segment = held.message;
  if (drainer_.running()) drainer_.Send(message, held.memfd.get(), held.pidfd.get());
}

void Supervisor::HandleSignals() {
  signalfd_siginfo info;
  while (::read(signal_fd_.get(), &info, sizeof(info)) == sizeof(info)) OnSignal(info);
}

void Supervisor::OnSignal(const signalfd_siginfo& info) {
  const int signal = static_cast<int>(info.ssi_signo);
  if (signal == SIGCHLD) return Reap();
  if (AllChildrenEnded()) {
    // Only we are left, writing.
    if (signal == SIGINT || signal == SIGTERM) {
      drainer_.Send(drain::MakeMessage(drain::MessageKind::kHurry));
    }
    return;
  }
  // From the terminal the whole foreground group has had it already, CMD included.
  if (info.ssi_code != SI_KERNEL) Relay(signal);
}

void Supervisor::Relay(int signal) {
  for (const Child& child : children_) {
    if (!child.exit_status) ::kill(child.pid, signal);
  }
}

void Supervisor::Reap() {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == drainer_.pid()) {
      OnDrainerDied(status);
      continue;
    }
    // Also of those that were left to us by a parent that ended, as in a container.
    ended_.push_back({pid, ExitStatusOf(status)});
    TellEnded(ended_.back());
    for (Child& child : children_) {
      if (child.pid == pid) OnChildEnded(child, ExitStatusOf(status));
    }
  }
}

void Supervisor::OnChildEnded(Child& child, int32_t exit_status) {
  child.exit_status = exit_status;
  if (exit_status != 0 && !first_failure_) {
    first_failure_ = exit_status;
    first_failure_ns_ = clock::MonotonicRawNs();
  }
}

void Supervisor::TellEnded(const drain::ChildEndedMessage& ended) {
  drain::Message message = drain::MakeMessage(drain::MessageKind::kChildEnded);
  message.child_ended = ended;
  if (drainer_.running()) drainer_.Send(message);
}

void Supervisor::EndStragglers() {
  if (!first_failure_ || AllChildrenEnded()) return;
  const int64_t waited_ns = clock::MonotonicRawNs() - first_failure_ns_;
  const int due = waited_ns > kKillAfterNs ? SIGKILL : waited_ns > kTermAfterNs ? SIGTERM : 0;
  if (due == stragglers_signal_) return;
  stragglers_signal_ = due;
  if (due == SIGTERM) Say("a rank failed; ending the others");
  Relay(due);
}

void Supervisor::OnDrainerDied(int wait_status) {
  HandleDrainer();  // what it said before
  if (drainer_finished_) {
    drainer_.OnDied(clock::MonotonicRawNs());
    return;
  }
  const int64_t now_ns = clock::MonotonicRawNs();
  restart_drainer_ns_ = drainer_.OnDied(now_ns);
  const bool was_hurried = WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
  if (was_hurried) {
    restart_drainer_ns_.reset();
    gave_up_ = true;
    summary_.incomplete = true;
    return;
  }
  if (!restart_drainer_ns_) return GiveUpDraining();
  if (!std::exchange(said_drainer_died_, true)) {
    Say("the drainer ended with status " + std::to_string(ExitStatusOf(wait_status)) +
        " and is started again; nothing is lost");
  }
}

void Supervisor::RestartDrainer() {
  if (!restart_drainer_ns_ || clock::MonotonicRawNs() < *restart_drainer_ns_) return;
  restart_drainer_ns_.reset();
  if (const Status status = drainer_.Start(); !status.ok()) {
    Say("the drainer can't be started again: " + status.message());
    return GiveUpDraining();
  }
  for (const auto& [index, held] : held_) SendSegment(held);
  for (const drain::ChildEndedMessage& ended : ended_) TellEnded(ended);
  told_command_ended_ = false;
}

void Supervisor::GiveUpDraining() {
  gave_up_ = true;
  summary_.incomplete = true;
  for (const auto& [index, held] : held_) StopCapture(held.memfd.get());
  Say("the drainer died again and again; recording stops, the job goes on");
}

void Supervisor::HandleDrainer() {
  drainer_.SendPending();
  while (const auto message = drainer_.Receive()) OnMessage(*message);
}

void Supervisor::OnMessage(const drain::Message& message) {
  switch (message.kind) {
    case drain::MessageKind::kText:
      return Say(std::string(message.text, ::strnlen(message.text, sizeof(message.text))));
    case drain::MessageKind::kDone:
      return OnDone(message.done);
    case drain::MessageKind::kFinished:
      drainer_finished_ = true;
      return;
    default:
      return;  // kReleased: the segment stays until its file is done
  }
}

void Supervisor::OnDone(const drain::DoneMessage& done) {
  // After a restart a file may be reported twice.
  if (held_.erase(done.index) == 0) return;
  if (done.spool_kept != 0) {
    summary_.incomplete = true;
    return;
  }
  ++summary_.files;
  if (done.rank >= 0) summary_.ranks.insert(done.rank);
  summary_.ranks_expected = std::max(summary_.ranks_expected, done.world_size);
  summary_.attempts = std::max(summary_.attempts, done.attempt + 1);
  if (done.events < 0) {
    summary_.events_known = false;
    return;
  }
  summary_.events += done.events;
  summary_.events_lost += done.events_lost;
}

}  // namespace tutti::collector::supervise
