// Why a job stands still: which rank waits for which, and who waits for nobody while
// others wait for it. A rank that is ahead of the others is not to blame; the one that is
// behind may be held up by a third.
// Pure functions; callable from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti::analyzer {

// A call that had not ended when the traces did.
struct OpenCall {
  int64_t rank = 0;                 // global
  int64_t communicator = 0;         // of the run
  std::optional<int64_t> sequence;  // of collectives; without one it is not looked at
  bool is_point_to_point = false;
  bool is_send = false;
  std::optional<int64_t> peer;      // global rank; without one a transfer is not looked at
  std::optional<bool> has_started;  // on the device; nothing: not told
  int64_t enqueue_ns = 0;
};

// How far a member of a communicator went with its collectives.
struct MemberProgress {
  int64_t rank = 0;
  int64_t communicator = 0;
  bool has_trace = false;
  std::optional<int64_t> last_entered;  // highest sequence; nothing: none is known
};

enum class HoldUp {
  kNeverEntered,  // it has not called what the other waits in
  kStuckEarlier,  // it called it, but an earlier call on the same communicator is not done
  kNotStarted,    // it called it, but its device has not come to it
  kNoTrace,       // how far it went is not known
};

struct Wait {
  size_t call = 0;     // index of the open call in which a rank waits
  int64_t holder = 0;  // rank that it waits for
  HoldUp why = HoldUp::kNeverEntered;
};

struct Culprit {
  int64_t rank = 0;
  // Of another rank that waits for it; where is_device_stuck, its own.
  size_t call = 0;
  HoldUp why = HoldUp::kNeverEntered;
  // Its call is done on other ranks, so all have entered it: its own device stands still.
  bool is_device_stuck = false;
};

struct Diagnosis {
  std::vector<Wait> waits;         // by order of the calls
  std::vector<Culprit> culprits;   // by rank
  std::vector<int64_t> in_circle;  // no culprit: ranks that wait for one another in a ring
};

// `calls` of a rank in the order in which they were made. Of the collectives of a rank on
// one communicator only the first open one counts: the others queue behind it. Transfers
// are compared by number: of more open sends than open receives, the rest waits.
// O((calls + members) log n + ranks that wait x members).
Diagnosis Diagnose(std::span<const OpenCall> calls, std::span<const MemberProgress> members);

}  // namespace tutti::analyzer
