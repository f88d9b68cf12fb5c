#include "collector/session/packet.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "collector/os/files.h"

namespace tutti::collector::session {
namespace {

constexpr size_t kMaxDescriptors = 4;

void TakeDescriptors(msghdr& message, Packet& packet) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t at = 0; at < count; ++at) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(part) + at * sizeof(int), sizeof(int));
      packet.descriptors.emplace_back(fd);
    }
  }
}

}  // namespace

SendResult SendPacket(int socket, std::span<const std::byte> bytes,
                      std::initializer_list<int> descriptors) {
  iovec data{const_cast<std::byte*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (descriptors.size() > 0) {
    const size_t payload = descriptors.size() * sizeof(int);
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(payload);
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(payload);
    std::memcpy(CMSG_DATA(part), descriptors.begin(), payload);
  }
  for (;;) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return SendResult::kSent;
    if (errno == EINTR) continue;
    return errno == EAGAIN ? SendResult::kWouldBlock : SendResult::kGone;
  }
}

std::optional<Packet> ReceivePacket(int socket, std::span<std::byte> buffer) {
  iovec data{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t bytes;
  do {
    bytes = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (bytes < 0 && errno == EINTR);
  if (bytes < 0 && errno == EAGAIN) return std::nullopt;
  Packet packet;
  if (bytes <= 0) return packet;
  packet.bytes = static_cast<size_t>(bytes);
  packet.truncated = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0;
  TakeDescriptors(message, packet);
  return packet;
}

Result<SocketPair> MakeSocketPair() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
    return os::ErrnoStatus("socketpair", errno);
  }
  return SocketPair{os::FileDescriptor(pair[0]), os::FileDescriptor(pair[1])};
}

}  // namespace tutti::collector::session
