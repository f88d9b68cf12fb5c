#include "collector/campaign/control.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>

#include "collector/os/file_descriptor.h"
#include "collector/os/files.h"

namespace tutti::collector::campaign {
namespace {

constexpr size_t kOrder = 192;  // of the matrices: 14 million operations, a few ms
constexpr size_t kElements = kOrder * kOrder;
// Each rank sends a piece before it receives one: it must fit into a socket's buffer.
constexpr size_t kPieceBytes = 32 * 1024;

using Matrix = std::vector<float>;

// Small whole numbers: sums of them are exact in any order.
Matrix MakeMatrix(size_t factor) {
  Matrix matrix(kElements);
  for (size_t i = 0; i < kElements; ++i) matrix[i] = static_cast<float>(i * factor % 3);
  return matrix;
}

// c = a * b
void Multiply(const Matrix& a, const Matrix& b, Matrix& c) {
  std::ranges::fill(c, 0.0F);
  for (size_t row = 0; row < kOrder; ++row) {
    for (size_t inner = 0; inner < kOrder; ++inner) {
      const float factor = a[row * kOrder + inner];
      for (size_t column = 0; column < kOrder; ++column) {
        c[row * kOrder + column] += factor * b[inner * kOrder + column];
      }
    }
  }
}

bool Send(int socket, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(socket, bytes, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<size_t>(sent);
  }
  return true;
}

bool Receive(int socket, char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t got = ::recv(socket, bytes, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

struct Neighbours {
  int next = -1;
  int previous = -1;
};

// Hands `out` to the next rank and takes as much from the previous one.
bool Exchange(Neighbours ring, const Matrix& out, Matrix& in) {
  const auto* sent = reinterpret_cast<const char*>(out.data());
  auto* received = reinterpret_cast<char*>(in.data());
  constexpr size_t kBytes = kElements * sizeof(float);
  for (size_t at = 0; at < kBytes; at += kPieceBytes) {
    const size_t size = std::min(kPieceBytes, kBytes - at);
    if (!Send(ring.next, sent + at, size) || !Receive(ring.previous, received + at, size)) {
      return false;
    }
  }
  return true;
}

// Sums `matrix` over the ring: each rank's goes once around.
bool AllReduce(Neighbours ring, size_t ranks, Matrix& matrix) {
  Matrix travelling = matrix;
  Matrix arrived(kElements);
  for (size_t turn = 1; turn < ranks; ++turn) {
    if (!Exchange(ring, travelling, arrived)) return false;
    for (size_t i = 0; i < kElements; ++i) matrix[i] += arrived[i];
    travelling.swap(arrived);
  }
  return true;
}

// Sockets between neighbours: ends[r] leads from rank r to the next one.
struct Ring {
  std::vector<os::FileDescriptor> to_next;
  std::vector<os::FileDescriptor> from_previous;

  Neighbours Of(size_t rank) const { return {to_next[rank].get(), from_previous[rank].get()}; }
};

Result<Ring> MakeRing(size_t ranks) {
  Ring ring;
  ring.to_next.resize(ranks);
  ring.from_previous.resize(ranks);
  for (size_t rank = 0; rank < ranks; ++rank) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      return os::ErrnoStatus("socketpair", errno);
    }
    ring.to_next[rank].Reset(ends[0]);
    ring.from_previous[(rank + 1) % ranks].Reset(ends[1]);
  }
  return ring;
}

int64_t MonotonicNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Result<ControlTimes> MeasureControl(size_t ranks, size_t repetitions) {
  TUTTI_ASSIGN_OR_RETURN(const Ring ring, MakeRing(ranks));
  ControlTimes times;
  std::vector<int64_t> begin_ns(repetitions);
  std::vector<int64_t> end_ns(repetitions);
  std::vector<char> failed(ranks, 0);
  size_t next_stamp = 0;
  // Every rank has passed: the moment at which a repetition ends and the next begins.
  std::barrier all(static_cast<std::ptrdiff_t>(ranks), [&]() noexcept {
    const int64_t now_ns = MonotonicNs();
    (next_stamp % 2 == 0 ? begin_ns : end_ns)[next_stamp / 2] = now_ns;
    ++next_stamp;
  });
  const auto work = [&](size_t rank) {
    const Matrix a = MakeMatrix(rank + 1);
    const Matrix b = MakeMatrix(2 * rank + 1);
    Matrix product(kElements);
    for (size_t repetition = 0; repetition < repetitions; ++repetition) {
      all.arrive_and_wait();
      Multiply(a, b, product);
      if (failed[rank] == 0 && !AllReduce(ring.Of(rank), ranks, product)) failed[rank] = 1;
      all.arrive_and_wait();
    }
    if (rank == 0) {
      for (const float element : product) times.checksum += static_cast<double>(element);
    }
  };
  std::vector<std::jthread> threads;
  for (size_t rank = 0; rank < ranks; ++rank) threads.emplace_back(work, rank);
  threads.clear();
  if (std::ranges::count(failed, 0) != static_cast<std::ptrdiff_t>(ranks)) {
    return IoError("control: a rank lost its neighbour");
  }
  for (size_t i = 0; i < repetitions; ++i) times.ns.push_back(end_ns[i] - begin_ns[i]);
  return times;
}

std::string ControlJson(const ControlTimes& times) {
  const nlohmann::ordered_json json = {{"schema", "tutti.control/1"}, {"ns", times.ns}};
  return json.dump() + "\n";
}

}  // namespace tutti::collector::campaign
