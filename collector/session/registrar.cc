#include "collector/session/registrar.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "collector/os/files.h"
#include "collector/os/proc.h"
#include "collector/session/packet.h"
#include "collector/session/program_name.h"

namespace tutti::collector::session {
namespace {

constexpr int64_t kPatienceNs = 5'000'000'000;  // the tracer itself waits 3 s
constexpr size_t kMaxWaiting = 256;

std::optional<ucred> PeerOf(int connection) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  if (peer.uid != ::geteuid()) return std::nullopt;
  return peer;
}

// In constant time: the answer's delay tells nothing about the token.
bool TokenMatches(const uint8_t (&given)[16], std::string_view hex) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  unsigned difference = hex.size() == 32 ? 0 : 1;
  for (size_t byte = 0; byte < sizeof(given) && hex.size() == 32; ++byte) {
    const size_t value = kDigits.find(hex[2 * byte]) * 16 + kDigits.find(hex[2 * byte + 1]);
    difference |= static_cast<unsigned>(value) ^ given[byte];
  }
  return difference == 0;
}

wire::Welcome MakeWelcome(wire::WelcomeStatus status, std::string_view text = {}) {
  wire::Welcome welcome{};
  welcome.magic = wire::kHelloMagic;
  welcome.version = wire::kVersion;
  welcome.status = status;
  text.copy(welcome.text, sizeof(welcome.text) - 1);
  return welcome;
}

template <size_t kBytes>
void CopyText(char (&field)[kBytes], const std::string& text) {
  std::snprintf(field, kBytes, "%s", text.c_str());
}

// Whether both say that they are one rank. Who doesn't know its rank says nothing: launchers such
// as Lightning's are rank 0 themselves and start the others without RANK.
bool SameRank(const wire::Hello& a, const wire::Hello& b) {
  return a.rank >= 0 && a.rank == b.rank && a.attempt == b.attempt &&
         std::strncmp(a.run_id, b.run_id, sizeof(a.run_id)) == 0;
}

bool HungUp(int connection) {
  pollfd peer{connection, POLLRDHUP, 0};
  return ::poll(&peer, 1, 0) > 0 && (peer.revents & (POLLRDHUP | POLLHUP)) != 0;
}

void SendWelcome(int connection, const wire::Welcome& welcome, int memfd = -1) {
  const auto bytes = std::as_bytes(std::span(&welcome, 1));
  // A peer that is gone meanwhile needs no answer.
  if (memfd >= 0) {
    SendPacket(connection, bytes, {memfd});
  } else {
    SendPacket(connection, bytes);
  }
}

}  // namespace

Registrar::Registrar(RegistrarSettings settings, OnAccepted on_accepted)
    : settings_(std::move(settings)), on_accepted_(std::move(on_accepted)) {}

void Registrar::Accept(int listener) {
  for (;;) {
    os::FileDescriptor connection(
        ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection.valid()) return;
    if (waiting_.size() >= kMaxWaiting || !PeerOf(connection.get())) continue;
    waiting_.push_back(std::move(connection));
    waiting_since_ns_.push_back(clock::MonotonicRawNs());
  }
}

void Registrar::HandleWaiting() {
  const int64_t now_ns = clock::MonotonicRawNs();
  for (size_t at = 0; at < waiting_.size();) {
    const bool done = Answer(waiting_[at].get()) || now_ns - waiting_since_ns_[at] > kPatienceNs;
    if (!done) {
      ++at;
      continue;
    }
    waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(at));
    waiting_since_ns_.erase(waiting_since_ns_.begin() + static_cast<ptrdiff_t>(at));
  }
}

bool Registrar::Answer(int connection) {
  wire::Hello hello;
  const auto packet = ReceivePacket(connection, std::as_writable_bytes(std::span(&hello, 1)));
  if (!packet) return false;
  const std::optional<ucred> peer = PeerOf(connection);
  if (packet->bytes != sizeof(hello) || packet->truncated || !peer ||
      hello.magic != wire::kHelloMagic) {
    return true;  // not a tracer: it gets no answer
  }
  const auto stat = os::ReadProcessStat(peer->pid);
  const uint64_t start_ticks = stat ? stat->start_ticks : hello.start_ticks;
  wire::Welcome welcome = Decide(hello, peer->pid, start_ticks);
  if (welcome.status != wire::WelcomeStatus::kAccepted) {
    SendWelcome(connection, welcome);
    return true;
  }
  if (HungUp(connection)) {  // it trains untraced by now
    ++gave_up_;
    return true;
  }
  const Result<Segment> segment = Admit(hello, peer->pid, start_ticks);
  if (!segment.ok()) {
    SendWelcome(connection,
                MakeWelcome(wire::WelcomeStatus::kRefusedResources, segment.status().message()));
    return true;
  }
  welcome.segment_bytes = segment->plan().segment_bytes;
  SendWelcome(connection, welcome, segment->memfd());
  return true;
}

bool Registrar::IsHelper(const wire::Hello& hello, int32_t peer_pid) const {
  return std::any_of(known_.begin(), known_.end(), [&](const Known& known) {
    return SameRank(known.hello, hello) && os::IsAncestor(known.pid, known.start_ticks, peer_pid);
  });
}

wire::Welcome Registrar::Decide(const wire::Hello& hello, int32_t peer_pid,
                                uint64_t start_ticks) const {
  using enum wire::WelcomeStatus;
  if (!TokenMatches(hello.token, settings_.token)) {
    return MakeWelcome(kRefusedToken, "it does not know the token of this recording");
  }
  if (hello.version != wire::kVersion) {
    return MakeWelcome(kRefusedVersion,
                       "its tracer has wire version " + std::to_string(hello.version) +
                           ", this collector has " + std::to_string(wire::kVersion));
  }
  if (IsHelper(hello, peer_pid)) return MakeWelcome(kHelper);
  if (!settings_.ranks.Selects(hello.rank, hello.local_rank, hello.world_size)) {
    return MakeWelcome(kNotSelected);
  }
  const auto of_process = std::count_if(known_.begin(), known_.end(), [&](const Known& known) {
    return known.pid == peer_pid && known.start_ticks == start_ticks;
  });
  if (of_process >= settings_.max_segments_per_process || known_.size() >= settings_.max_segments) {
    return MakeWelcome(kRefusedResources, "it asked for a buffer too often");
  }
  return MakeWelcome(kAccepted);
}

Result<Segment> Registrar::Admit(const wire::Hello& hello, int32_t peer_pid, uint64_t start_ticks) {
  TUTTI_ASSIGN_OR_RETURN(
      Segment segment,
      Segment::Make(settings_.segment_bytes, settings_.clock_kind, settings_.capture_mask));
  Registration registration;
  registration.index = next_index_++;
  registration.process = {};
  spool::ProcessChunk& process = registration.process;
  process.hello = hello;
  std::memset(process.hello.token, 0, sizeof(process.hello.token));
  process.anchor = settings_.anchor;
  process.start_ticks = start_ticks;
  process.peer_pid = peer_pid;
  process.clock_kind = settings_.clock_kind;
  process.string_capacity = segment.plan().shape.string_capacity;
  process.ring_count = segment.plan().ring_count;
  process.segment_bytes = settings_.segment_bytes;
  process.capture_mask = settings_.capture_mask;
  process.clock_ticks_per_second = static_cast<uint32_t>(::sysconf(_SC_CLK_TCK));
  CopyText(process.host, os::HostName());
  CopyText(process.boot_id, os::BootId());
  if (const auto cmdline = os::ReadSmallFile("/proc/" + std::to_string(peer_pid) + "/cmdline");
      peer_pid > 0 && cmdline.ok()) {
    CopyText(process.program, ProgramName(SplitCommandLine(*cmdline)));
  }
  registration.first_reading = clock::ReadClocks(settings_.clock_kind);
  registration.memfd.Reset(::fcntl(segment.memfd(), F_DUPFD_CLOEXEC, 0));
  if (peer_pid > 0) {
    registration.pidfd.Reset(static_cast<int>(::syscall(SYS_pidfd_open, peer_pid, 0)));
  }
  known_.push_back({peer_pid, start_ticks, hello});
  on_accepted_(std::move(registration));
  return segment;
}

}  // namespace tutti::collector::session
