// What supervisor and drainer tell each other over their socket pair. Both are one
// build: plain structs. Losing the peer is noticed as the end of the stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "collector/clock/clock_reading.h"
#include "collector/os/file_descriptor.h"
#include "collector/session/packet.h"
#include "collector/spool/format.h"

namespace tutti::collector::drain {

enum class MessageKind : uint32_t {
  // To the drainer.
  kSegment = 1,       // a process was let in; descriptors: memfd, pidfd if there is one
  kChildEnded = 2,    // a child of the supervisor
  kCommandEnded = 3,  // CMD has ended: finish when the ranks have
  kHurry = 4,         // the user does not want to wait: leave the spools unconverted
  // To the supervisor.
  kText = 5,      // a line for the user
  kReleased = 6,  // the process's spool is complete: its segment is not needed any more
  kDone = 7,      // a process's file is done
  kFinished = 8,  // everything is; the drainer exits now
};

struct SegmentMessage {
  uint32_t index;
  uint32_t is_child;  // of the supervisor, which will tell how it ended
  spool::ProcessChunk process;
  clock::ClockReading first_reading;
};

struct ChildEndedMessage {
  int32_t pid;
  int32_t exit_status;  // as a shell gives it
};

struct DoneMessage {
  uint32_t index;
  int32_t rank;
  int32_t attempt;
  int32_t exit_status;
  int64_t events;
  int64_t events_lost;
  uint32_t spool_kept;
  int32_t world_size;  // -1 unknown
};

struct Message {
  MessageKind kind;
  uint32_t index;  // kReleased
  union {
    SegmentMessage segment;
    ChildEndedMessage child_ended;
    DoneMessage done;
    char text[1024];
  };
};

inline Message MakeMessage(MessageKind kind) {
  Message message;
  std::memset(static_cast<void*>(&message), 0, sizeof(message));
  message.kind = kind;
  return message;
}

inline Message MakeText(std::string_view text) {
  Message message = MakeMessage(MessageKind::kText);
  std::memcpy(message.text, text.data(), std::min(text.size(), sizeof(message.text) - 1));
  return message;
}

}  // namespace tutti::collector::drain
