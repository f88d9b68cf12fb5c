// Messages with descriptors over SOCK_SEQPACKET sockets. Callable from any thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "collector/os/file_descriptor.h"
#include "common/status.h"

namespace tutti::collector::session {

enum class SendResult { kSent, kWouldBlock, kGone };

// Sends one packet with up to four descriptors; never blocks, never raises SIGPIPE.
SendResult SendPacket(int socket, std::span<const std::byte> bytes,
                      std::initializer_list<int> descriptors = {});

struct Packet {
  size_t bytes = 0;        // 0: the peer closed
  bool truncated = false;  // it was longer than the buffer
  std::vector<os::FileDescriptor> descriptors;
};

// Receives one packet into |buffer| without blocking; absent: nothing is there.
// Descriptors are close-on-exec.
std::optional<Packet> ReceivePacket(int socket, std::span<std::byte> buffer);

// A connected, non-blocking, close-on-exec pair.
struct SocketPair {
  os::FileDescriptor first;
  os::FileDescriptor second;
};
Result<SocketPair> MakeSocketPair();

}  // namespace tutti::collector::session
