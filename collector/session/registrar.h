// Decides who becomes a recorded rank: checks what a process says of itself over the
// session's socket against what the kernel says of it, and makes its segment. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "collector/clock/clock_reading.h"
#include "collector/os/file_descriptor.h"
#include "collector/session/rank_selector.h"
#include "collector/session/segment.h"
#include "collector/spool/format.h"
#include "common/wire/handshake.h"

namespace tutti::collector::session {

struct RegistrarSettings {
  std::string token;  // 32 hex digits
  uint64_t segment_bytes = 64 << 20;
  wire::ClockKind clock_kind = wire::ClockKind::kMonotonicRaw;
  uint32_t capture_mask = 0;
  clock::Anchor anchor{};
  RankSelector ranks;
  // Quotas: against a program that asks again and again.
  uint32_t max_segments = 1024;
  uint32_t max_segments_per_process = 4;  // a process that execs itself asks anew
};

// A process that was let in.
struct Registration {
  uint32_t index = 0;  // order of arrival
  spool::ProcessChunk process;
  clock::ClockReading first_reading{};  // taken before the segment was handed out
  os::FileDescriptor memfd;
  os::FileDescriptor pidfd;  // invalid where the process is out of our sight
};

class Registrar {
 public:
  // |on_accepted| is called before the process is told, so that its events are drained
  // from the first one on.
  using OnAccepted = std::function<void(Registration)>;
  Registrar(RegistrarSettings settings, OnAccepted on_accepted);

  // Takes in all connections that wait on |listener|. Those that do not speak at once
  // are kept; poll their descriptors and call Handle.
  void Accept(int listener);
  const std::vector<os::FileDescriptor>& waiting() const { return waiting_; }
  // Answers the waiting connections whose word has come, and closes those that are
  // silent for too long.
  void HandleWaiting();

  uint32_t accepted() const { return next_index_; }
  // Processes that would have been let in, but had stopped waiting when their turn came.
  uint32_t gave_up() const { return gave_up_; }

 private:
  struct Known {
    int32_t pid;
    uint64_t start_ticks;
    wire::Hello hello;
  };
  // Whether the connection is done with.
  bool Answer(int connection);
  wire::Welcome Decide(const wire::Hello& hello, int32_t peer_pid, uint64_t start_ticks) const;
  bool IsHelper(const wire::Hello& hello, int32_t peer_pid) const;
  Result<Segment> Admit(const wire::Hello& hello, int32_t peer_pid, uint64_t start_ticks);

  RegistrarSettings settings_;
  OnAccepted on_accepted_;
  std::vector<os::FileDescriptor> waiting_;
  std::vector<int64_t> waiting_since_ns_;
  std::vector<Known> known_;
  uint32_t next_index_ = 0;
  uint32_t gave_up_ = 0;
};

}  // namespace tutti::collector::session
