// Waiting told from transferring inside one collective, and its bandwidth.
//
//   rank 0   [arrive .......wait.......|====transfer====)
//   rank 1                             [arrive ==========)
//   ready                              ^ last arrival
//
// When data can begin to move depends on the kind of operation: for all-to-all kinds
// at the last arrival of all; for broadcast and scatter when the root arrives; for
// gather and reduce when all have come to the root; point-to-point: the later of the pair.
// Whether the root of a broadcast, or a member of a reduce, is done without those that take its
// data is the backend's choice: Gloo waits for them, NCCL does not until its buffers are full. It
// shows: who was not done when they came had waited for them. All times aligned, ns. Pure
// functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tutti::analyzer {

enum class OpKind {
  kAllToAll,      // all_reduce, all_gather, reduce_scatter, all_to_all, barrier
  kFromRoot,      // broadcast, scatter
  kToRoot,        // gather, reduce
  kPointToPoint,  // send, recv
  kUnknown,       // treated as kAllToAll
};

// By name as in collective_source.op ("all_reduce", "allreduce", "_allgather_base", …).
OpKind KindOfOp(std::string_view op);

// One rank's part. `arrival_ns` <= `end_ns` (the reader makes sure).
struct CallTime {
  int rank = 0;                   // global rank
  bool is_root = false;           // of a rooted operation
  int64_t arrival_ns = 0;         // it begins to run
  std::optional<int64_t> end_ns;  // nothing: still running when the trace ended
};

struct CallTiming {
  std::optional<int64_t> ready_ns;     // when this rank's data could begin to move
  std::optional<int64_t> wait_ns;      // ready - arrival within [arrival, end)
  std::optional<int64_t> transfer_ns;  // end - max(arrival, ready); negative: contradicting times
};

struct CollectiveTiming {
  std::vector<CallTiming> calls;       // by the order given
  int64_t ready_ns = 0;                // latest ready time of its calls
  std::optional<int> last_rank;        // who made it ready; nothing where arrivals tie
  int64_t skew_ns = 0;                 // last arrival minus first
  std::optional<int64_t> transfer_ns;  // minimum of the non-negative ones
  int64_t clamped = 0;                 // calls that ended before their ready time
};

// Requires at least one call, all on one clock, every member of the group present. A
// rooted operation without a root among its calls is treated as an all-to-all one.
CollectiveTiming TimeCollective(OpKind kind, std::span<const CallTime> calls);

// Bandwidths with the factors of nccl-tests (doc/PERFORMANCE.md there). `bytes` is
// one rank's payload (nccl-tests' count x type size), `ranks` the size of the group.
// GB/s = 10^9 bytes a second. busbw is 0 in a group of one.
struct Bandwidth {
  double algbw_gb_per_s = 0;
  double busbw_gb_per_s = 0;
};
// Nothing for barriers, unknown operations, no bytes or no time.
std::optional<Bandwidth> BandwidthOf(std::string_view op, int64_t bytes, int ranks,
                                     int64_t transfer_ns);

}  // namespace tutti::analyzer
