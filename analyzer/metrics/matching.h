// Which calls on different ranks are one collective, and what it means when a member
// has none. Calls are matched by (communicator, sequence), where the sequence is not
// known by order within (communicator, op, bytes); never by position in the trace.
// Point-to-point calls are paired by order within (communicator, source, destination).
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::analyzer {

// One call on one rank, as far as matching needs to know it. Calls of a rank must be
// given in the order in which they were enqueued.
struct MatchCall {
  int rank = 0;                         // global rank
  std::optional<int64_t> communicator;  // of the run; nothing: unknown, never matched
  std::optional<int64_t> sequence;      // order in the communicator
  std::string op;                       // "all_reduce", …
  std::string dtype;                    // "" unknown
  std::optional<int64_t> bytes;
  std::optional<int> group_rank;  // own rank in the group
  std::optional<int> peer;        // rank in the group, point-to-point only
};

enum class MatchedBy { kSequence, kOrder, kNone };

struct Match {
  MatchedBy by = MatchedBy::kNone;
  std::vector<size_t> calls;  // indices into the input, ascending by rank, one per rank
};

// Every call is in exactly one match. Deterministic: ordered by communicator, then by
// sequence, then by first call. O(n log n).
std::vector<Match> MatchCalls(std::span<const MatchCall> calls);

// What one member of the communicator recorded.
struct MemberTrace {
  int rank = 0;
  bool has_file = false;                  // its trace is here
  bool has_call = false;                  // it has a call in this match
  bool call_is_open = false;              // that call did not end before the trace did
  std::optional<int64_t> first_sequence;  // of its calls in this communicator
  std::optional<int64_t> last_sequence;   // the same
  bool covers_call = false;  // its trace goes on, without loss, to the end of the others' calls
};

enum class CollectiveState {
  kComplete,      // every member entered and left
  kOpen,          // every member entered; some had not left when the trace ended
  kPeersMissing,  // the trace of a member is not here
  kNotCaptured,   // a member's trace lacks it although it must have entered
  kHung,          // a member never entered
  kMismatched,    // members disagree on op, dtype or bytes
};

// `sequence` is that of the match, nothing where it was matched by order. Mismatches
// come first, then hangs, holes and missing files.
CollectiveState StateOf(std::span<const MemberTrace> members, std::optional<int64_t> sequence,
                        bool mismatched);

// In what the calls of one match disagree.
enum class MismatchKind { kNone, kOp, kDtype, kBytes };
struct Mismatch {
  MismatchKind kind = MismatchKind::kNone;
  std::vector<int> odd_ranks;  // those that differ from the most frequent value
};
// `match` indexes `calls`. Bytes may differ where the operation allows it (all_to_all,
// gather, scatter, barrier, point-to-point); unknown values agree with everything.
Mismatch FindMismatch(std::span<const MatchCall> calls, const Match& match);

}  // namespace tutti::analyzer
