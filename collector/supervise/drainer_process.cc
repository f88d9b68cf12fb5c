#include "collector/supervise/drainer_process.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "collector/clock/clock_reading.h"
#include "collector/os/files.h"
#include "collector/session/packet.h"

namespace tutti::collector::supervise {
namespace {

constexpr int kMaxDeathsInARow = 6;
constexpr int64_t kHealthyNs = 60'000'000'000;  // after this long, earlier deaths are forgiven
constexpr int64_t kFirstDelayNs = 10'000'000;   // doubled with each death in a row

// Everything from descriptor 3 on, but for |keep|. The objects that own them in the
// parent are never destroyed here: the child leaves by _exit.
void CloseAllBut(std::vector<int> keep) {
  std::sort(keep.begin(), keep.end());
  unsigned first = 3;
  for (const int fd : keep) {
    if (fd < 3) continue;
    const auto kept = static_cast<unsigned>(fd);
    if (kept > first) ::syscall(SYS_close_range, first, kept - 1, 0);
    first = kept + 1;
  }
  ::syscall(SYS_close_range, first, ~0U, 0);
}

os::FileDescriptor Duplicate(int fd) {
  return os::FileDescriptor(fd < 0 ? -1 : ::fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

session::SendResult SendNow(int channel, const drain::Message& message, int first, int second) {
  const auto bytes = std::as_bytes(std::span(&message, 1));
  if (first >= 0 && second >= 0) return session::SendPacket(channel, bytes, {first, second});
  if (first >= 0) return session::SendPacket(channel, bytes, {first});
  return session::SendPacket(channel, bytes);
}

}  // namespace

Status DrainerProcess::Start() {
  TUTTI_ASSIGN_OR_RETURN(session::SocketPair pair, session::MakeSocketPair());
  pending_.clear();
  const pid_t pid = ::fork();
  if (pid < 0) return os::ErrnoStatus("fork", errno);
  if (pid == 0) RunChild(std::move(pair.second));
  pid_ = pid;
  channel_ = std::move(pair.first);
  started_ns_ = clock::MonotonicRawNs();
  return OkStatus();
}

void DrainerProcess::RunChild(os::FileDescriptor channel) {
  std::vector<int> keep = keep_;
  keep.push_back(channel.get());
  CloseAllBut(std::move(keep));
  ::_exit(drain::RunDrainer(settings_, std::move(channel)));
}

void DrainerProcess::Send(const drain::Message& message, int first_descriptor,
                          int second_descriptor) {
  SendPending();
  if (pending_.empty() && SendNow(channel_.get(), message, first_descriptor, second_descriptor) !=
                              session::SendResult::kWouldBlock) {
    return;  // sent, or gone: what the next drainer needs is sent to it anew
  }
  pending_.push_back({message, Duplicate(first_descriptor), Duplicate(second_descriptor)});
}

void DrainerProcess::SendPending() {
  while (!pending_.empty()) {
    const Pending& next = pending_.front();
    if (SendNow(channel_.get(), next.message, next.first.get(), next.second.get()) ==
        session::SendResult::kWouldBlock) {
      return;
    }
    pending_.pop_front();
  }
}

std::optional<drain::Message> DrainerProcess::Receive() {
  drain::Message message;
  const auto packet =
      session::ReceivePacket(channel_.get(), std::as_writable_bytes(std::span(&message, 1)));
  if (!packet) return std::nullopt;
  if (packet->bytes != sizeof(message)) {
    channel_.Reset();  // gone
    return std::nullopt;
  }
  return message;
}

std::optional<int64_t> DrainerProcess::OnDied(int64_t now_ns) {
  pid_ = -1;
  channel_.Reset();
  pending_.clear();
  if (now_ns - started_ns_ > kHealthyNs) deaths_in_a_row_ = 0;
  ++deaths_in_a_row_;
  if (deaths_in_a_row_ >= kMaxDeathsInARow) return std::nullopt;
  if (deaths_in_a_row_ == 1) return now_ns;
  return now_ns + (kFirstDelayNs << deaths_in_a_row_);
}

}  // namespace tutti::collector::supervise
