#include "tracer/core/handshake.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "tracer/core/clock.h"
#include "tracer/core/process_info.h"

namespace tutti::tracer {
namespace {

constexpr char kGone[] = "the collector is gone";
constexpr char kSilent[] = "the collector does not answer";
constexpr char kGarbled[] = "the collector's answer is garbled";

// A descriptor that is closed at the end of its block.
class ScopedFile {
 public:
  explicit ScopedFile(int file) noexcept : file_(file) {}
  ~ScopedFile() {
    if (file_ >= 0) close(file_);
  }
  ScopedFile(const ScopedFile&) = delete;
  ScopedFile& operator=(const ScopedFile&) = delete;
  int get() const noexcept { return file_; }

 private:
  int file_;
};

// Milliseconds until |deadline_ns|, rounded up so that a wait doesn't end early; 0 if past.
int RemainingMs(int64_t deadline_ns) noexcept {
  const int64_t remaining_ns = deadline_ns - MonotonicNs();
  return remaining_ns > 0 ? static_cast<int>((remaining_ns + 999'999) / 1'000'000) : 0;
}

bool WaitFor(int socket, short events, int64_t deadline_ns) noexcept {
  pollfd wait{socket, events, 0};
  for (;;) {
    const int remaining_ms = RemainingMs(deadline_ns);
    const int ready = poll(&wait, 1, remaining_ms);
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

// The socket is non-blocking. A unix socket with a full backlog gives EAGAIN at once rather
// than EINPROGRESS, and can't be polled for it.
const char* Connect(int socket, const SessionAddress& address, int64_t deadline_ns) noexcept {
  const auto* peer = reinterpret_cast<const sockaddr*>(&address.socket);
  while (connect(socket, peer, sizeof(address.socket)) != 0) {
    if (errno != EAGAIN && errno != EINTR) return kGone;
    if (RemainingMs(deadline_ns) == 0) return kSilent;
    const timespec pause{0, 2'000'000};
    nanosleep(&pause, nullptr);
  }
  return nullptr;
}

const char* CheckPeer(int socket) noexcept {
  ucred peer;
  socklen_t bytes = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return kGone;
  if (peer.uid != geteuid() && peer.uid != 0) return "the collector is another user's process";
  return nullptr;
}

// Takes the descriptors out of |message|. The first is kept, others are closed: a garbled
// answer must not leave any behind.
int TakeDescriptor(msghdr* message) noexcept {
  int first = -1;
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int file;
      std::memcpy(&file, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      if (first < 0) {
        first = file;
      } else {
        close(file);
      }
    }
  }
  return first;
}

const char* CheckWelcome(const wire::Welcome& welcome, int file) noexcept {
  if (welcome.magic != wire::kHelloMagic) return kGarbled;
  if (welcome.status == wire::WelcomeStatus::kRefusedVersion) return nullptr;
  if (welcome.version != wire::kVersion) return "the collector speaks another version";
  if (welcome.status > wire::WelcomeStatus::kNotSelected) return kGarbled;
  if (welcome.status == wire::WelcomeStatus::kAccepted && file < 0) {
    return "the collector sent no segment";
  }
  return nullptr;
}

const char* Receive(int socket, int64_t deadline_ns, wire::Welcome* welcome, int* file) noexcept {
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
  iovec data{welcome, sizeof(*welcome)};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t bytes;
  do {
    if (!WaitFor(socket, POLLIN, deadline_ns)) return kSilent;
    bytes = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (bytes < 0 && (errno == EINTR || errno == EAGAIN));
  if (bytes <= 0) return kGone;
  *file = TakeDescriptor(&message);
  if (bytes != sizeof(*welcome) || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    return kGarbled;
  }
  welcome->text[sizeof(welcome->text) - 1] = '\0';
  return CheckWelcome(*welcome, *file);
}

const char* CheckSegmentFile(int file, uint64_t bytes) noexcept {
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return "the segment is not a file";
  if (bytes < sizeof(wire::SegmentHeader) || bytes > wire::kMaxSegmentBytes ||
      static_cast<uint64_t>(status.st_size) != bytes) {
    return "the segment has a wrong size";
  }
  constexpr int kWanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  const int seals = fcntl(file, F_GET_SEALS);
  if (seals < 0 || (seals & kWanted) != kWanted) return "the segment is not sealed";
  return nullptr;
}

// Copies each ring's place out of shared memory once, checks the copy and keeps it.
const char* CopyRings(std::byte* base, const wire::SegmentLayout& layout, RingRef* rings) noexcept {
  uint64_t end = layout.ring_headers_offset + layout.ring_count * wire::kRingHeaderBytes;
  uint32_t size_class = 0;
  for (uint32_t i = 0; i < layout.ring_count; ++i) {
    auto* header = reinterpret_cast<wire::RingHeader*>(base + layout.ring_headers_offset +
                                                       i * wire::kRingHeaderBytes);
    const wire::RingLayout ring{header->cells_offset, header->capacity_cells, header->size_class};
    if (const char* problem = wire::RingProblem(ring, layout.segment_bytes, &end, &size_class)) {
      return problem;
    }
    rings[i] = {header, base + ring.cells_offset, ring.capacity_cells, ring.size_class};
  }
  return nullptr;
}

}  // namespace

wire::Hello MakeHello(const RankIdentity& identity, const char* reason) noexcept {
  wire::Hello hello{};
  hello.magic = wire::kHelloMagic;
  hello.version = wire::kVersion;
  hello.pid = getpid();
  hello.ppid = getppid();
  hello.start_ticks = ProcessStartTicks();
  hello.rank = identity.rank;
  hello.local_rank = identity.local_rank;
  hello.world_size = identity.world_size;
  hello.attempt = identity.attempt;
  static_assert(sizeof(hello.rank_variable) == sizeof(identity.rank_variable));
  static_assert(sizeof(hello.run_id) == sizeof(identity.run_id));
  std::memcpy(hello.rank_variable, identity.rank_variable, sizeof(hello.rank_variable));
  std::memcpy(hello.run_id, identity.run_id, sizeof(hello.run_id));
  // Stays empty on failure; a path that fills the field is cut, the last byte is a zero.
  if (readlink("/proc/self/exe", hello.executable, sizeof(hello.executable) - 1) < 0) {
    hello.executable[0] = '\0';
  }
  std::snprintf(hello.reason, sizeof(hello.reason), "%s", reason);
  return hello;
}

const char* ExchangeHello(const SessionAddress& address, const wire::Hello& hello, int64_t limit_ns,
                          wire::Welcome* welcome, int* segment_file) noexcept {
  const int64_t deadline_ns = MonotonicNs() + limit_ns;
  *segment_file = -1;
  const ScopedFile connection(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connection.get() < 0) return "no socket can be made";
  if (const char* problem = Connect(connection.get(), address, deadline_ns)) return problem;
  if (const char* problem = CheckPeer(connection.get())) return problem;
  if (send(connection.get(), &hello, sizeof(hello), MSG_NOSIGNAL) != sizeof(hello)) return kGone;
  const char* problem = Receive(connection.get(), deadline_ns, welcome, segment_file);
  const bool keep = problem == nullptr && welcome->status == wire::WelcomeStatus::kAccepted;
  if (!keep && *segment_file >= 0) {
    close(*segment_file);
    *segment_file = -1;
  }
  return problem;
}

void* MapPrivate(size_t bytes) noexcept {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory != MAP_FAILED ? memory : nullptr;
}

const char* MapSegment(int file, uint64_t bytes, MappedSegment* mapped) noexcept {
  if (const char* problem = CheckSegmentFile(file, bytes)) return problem;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return "the segment can't be mapped";
  auto* base = static_cast<std::byte*>(memory);
  const wire::SegmentLayout layout =
      wire::ReadLayout(*static_cast<const wire::SegmentHeader*>(memory));
  const char* problem = wire::LayoutProblem(layout, bytes);
  RingRef* rings = nullptr;
  if (problem == nullptr) {
    rings = static_cast<RingRef*>(MapPrivate(layout.ring_count * sizeof(RingRef)));
    problem = rings != nullptr ? CopyRings(base, layout, rings) : "no memory";
  }
  if (problem == nullptr) {
    *mapped = {base, layout, rings};
    return nullptr;
  }
  munmap(memory, bytes);
  if (rings != nullptr) munmap(rings, layout.ring_count * sizeof(RingRef));
  return problem;
}

}  // namespace tutti::tracer
