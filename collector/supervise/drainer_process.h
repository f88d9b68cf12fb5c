// The drainer as the supervisor sees it: a child that is started again when it dies, and
// a socket to it whose messages wait while it can't take them. One thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "collector/drain/channel.h"
#include "collector/drain/drainer.h"
#include "collector/os/file_descriptor.h"

namespace tutti::collector::supervise {

class DrainerProcess {
 public:
  // |keep|: descriptors that the drainer holds too (the recording's lock).
  DrainerProcess(drain::DrainerSettings settings, std::vector<int> keep)
      : settings_(std::move(settings)), keep_(std::move(keep)) {}

  // Forks a drainer. Messages that waited for its predecessor are dropped.
  Status Start();

  pid_t pid() const { return pid_; }
  bool running() const { return pid_ > 0; }
  int channel() const { return channel_.get(); }
  bool wants_to_send() const { return !pending_.empty(); }

  // Descriptors are duplicated if the message has to wait.
  void Send(const drain::Message& message, int first_descriptor = -1, int second_descriptor = -1);
  void SendPending();
  // Absent: nothing is there (or the drainer is gone: its end is reported by waitpid).
  std::optional<drain::Message> Receive();

  // It was waited for. When to start the next one (MONOTONIC_RAW ns); absent: never, it
  // died too often.
  std::optional<int64_t> OnDied(int64_t now_ns);

 private:
  struct Pending {
    drain::Message message;
    os::FileDescriptor first;
    os::FileDescriptor second;
  };
  [[noreturn]] void RunChild(os::FileDescriptor channel);

  drain::DrainerSettings settings_;
  std::vector<int> keep_;
  pid_t pid_ = -1;
  os::FileDescriptor channel_;
  std::deque<Pending> pending_;
  int deaths_in_a_row_ = 0;
  int64_t started_ns_ = 0;
};

}  // namespace tutti::collector::supervise
