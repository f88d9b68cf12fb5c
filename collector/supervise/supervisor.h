// `tutti record` while CMD runs: lets processes in, keeps their segments, passes signals
// on, starts the drainer again if it dies, and knows how CMD ended. Does no work that
// could fail because of a trace: what it holds must outlive everything else. One thread.
#pragma once

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "collector/os/file_descriptor.h"
#include "collector/session/registrar.h"
#include "collector/supervise/child.h"
#include "collector/supervise/drainer_process.h"
#include "common/status.h"

namespace tutti::collector::supervise {

// What the user is told at the end.
struct Summary {
  uint32_t processes = 0;  // that were let in
  uint32_t gave_up = 0;    // that were not: they had stopped waiting for us
  uint32_t files = 0;
  std::set<int32_t> ranks;      // that have a file, of any attempt; those that are known
  int32_t ranks_expected = -1;  // of the job; -1 unknown
  int32_t attempts = 1;         // the highest that has a file, counted from 1
  int64_t events = 0;
  int64_t events_lost = 0;
  bool events_known = true;  // false: a file was finished by a drainer that died after it
  bool incomplete = false;   // spools are left
};

class Supervisor {
 public:
  Supervisor(session::RegistrarSettings registrar, drain::DrainerSettings drainer,
             os::FileDescriptor listener, std::vector<int> drainer_keeps);

  // Blocks the signals that are passed on, from now on. Call first.
  Status TakeSignals();
  const SignalState& signals() const { return signals_; }

  Status StartDrainer() { return drainer_.Start(); }
  void AddChild(pid_t pid) { children_.push_back({pid, std::nullopt}); }

  // Until all children have ended and the drainer is done. The exit status: of the one
  // child, or of the first that failed.
  int32_t Run();

  const Summary& summary() const { return summary_; }

 private:
  struct Child {
    pid_t pid;
    std::optional<int32_t> exit_status;
  };
  struct Held {
    drain::SegmentMessage message;
    os::FileDescriptor memfd;
    os::FileDescriptor pidfd;
  };

  bool AllChildrenEnded() const;
  bool Finished() const;
  void Wait();
  void OnAccepted(session::Registration registration);
  void SendSegment(const Held& held);
  void HandleSignals();
  void OnSignal(const signalfd_siginfo& info);
  void Relay(int signal);
  void Reap();
  void TellEnded(const drain::ChildEndedMessage& ended);
  void OnChildEnded(Child& child, int32_t exit_status);
  void OnDrainerDied(int wait_status);
  void RestartDrainer();
  void GiveUpDraining();
  void HandleDrainer();
  void OnMessage(const drain::Message& message);
  void OnDone(const drain::DoneMessage& done);
  void EndStragglers();

  session::Registrar registrar_;
  DrainerProcess drainer_;
  os::FileDescriptor listener_;
  os::FileDescriptor signal_fd_;
  SignalState signals_{};
  std::vector<Child> children_;
  std::vector<drain::ChildEndedMessage> ended_;  // all that were waited for, but the drainer
  std::map<uint32_t, Held> held_;                // segments whose spool is not complete
  std::optional<int64_t> restart_drainer_ns_;
  bool drainer_finished_ = false;
  bool gave_up_ = false;
  bool said_drainer_died_ = false;
  bool told_command_ended_ = false;
  std::optional<int32_t> first_failure_;
  int64_t first_failure_ns_ = 0;
  int stragglers_signal_ = 0;  // the last one sent to them
  Summary summary_;
};

// One line for the user on stderr.
void Say(const std::string& text);

}  // namespace tutti::collector::supervise
