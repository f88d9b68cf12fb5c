#include "analyzer/mpi/messages.h"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

namespace tutti::analyzer::mpi {
namespace {

// MPI's counts are ints.
constexpr size_t kMostAtOnce = size_t{64} << 20;
constexpr int kTag = 1;

// Calls part(begin, count) for parts that MPI can count. `Char` is const where they are sent.
template <typename Char, typename Function>
void InParts(Char* bytes, size_t size, Function part) {
  for (size_t begin = 0; begin < size; begin += kMostAtOnce) {
    part(bytes + begin, static_cast<int>(std::min(kMostAtOnce, size - begin)));
  }
}

// MPI itself waits by asking again and again.
void SleepUntilMessageOf(int process) {
  constexpr std::chrono::microseconds kLongest(1000);
  std::chrono::microseconds pause(20);
  for (;;) {
    int is_there = 0;
    MPI_Iprobe(process, kTag, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    if (is_there != 0) return;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongest);
  }
}

}  // namespace

void Send(size_t to, const std::string& bytes) {
  const int process = static_cast<int>(to);
  const auto size = static_cast<uint64_t>(bytes.size());
  MPI_Send(&size, 1, MPI_UINT64_T, process, kTag, MPI_COMM_WORLD);
  InParts(bytes.data(), bytes.size(), [process](const char* begin, int count) {
    MPI_Send(begin, count, MPI_BYTE, process, kTag, MPI_COMM_WORLD);
  });
}

std::string Receive(size_t from) {
  const int process = static_cast<int>(from);
  SleepUntilMessageOf(process);
  uint64_t size = 0;
  MPI_Recv(&size, 1, MPI_UINT64_T, process, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::string bytes(size, '\0');
  InParts(bytes.data(), bytes.size(), [process](char* begin, int count) {
    MPI_Recv(begin, count, MPI_BYTE, process, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
  return bytes;
}

}  // namespace tutti::analyzer::mpi
