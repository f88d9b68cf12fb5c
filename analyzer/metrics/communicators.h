// Which communicators of different ranks are one: (backend, global ranks or uid,
// creation ordinal), never a local pointer.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::analyzer {

// A communicator as one rank knows it.
struct LocalCommunicator {
  int64_t rank = 0;
  int64_t local_id = 0;  // in the rank's file
  std::string backend;
  std::string uid;  // "" unknown
  std::string description;
  int64_t ordinal = 0;  // creation order in its process among those of its backend
  std::optional<int64_t> group_rank;
  std::optional<int64_t> size;
  std::vector<int64_t> global_ranks;  // by group rank; empty: unknown
};

enum class MembersOrigin { kTold, kWholeWorld, kSeen };

struct JobCommunicator {
  std::string backend;
  std::string uid;
  std::string description;
  int64_t ordinal = 0;  // of its lowest rank
  std::optional<int64_t> size;
  std::vector<int64_t> global_ranks;  // told by the group; empty: not told
  MembersOrigin members_origin = MembersOrigin::kSeen;
  std::vector<int64_t> members;  // global ranks as far as known, ascending
  std::vector<size_t> locals;    // indices into the input, by rank

  // Ranks that must take part; with kSeen at least those that were seen.
  int64_t expected() const;
  std::optional<int64_t> GlobalRankOf(int64_t group_rank) const;
};

// Every local communicator belongs to exactly one of the result. A group whose members
// nobody told is recognised by uid, else by size and ordinal; ranks that claim the same
// place in it are in different groups. Ordered by backend, members, uid, ordinal.
std::vector<JobCommunicator> JoinCommunicators(std::span<const LocalCommunicator> locals,
                                               int64_t world_size);

// "[0, 1, 2]" or "0,1,2" as numbers; empty if it is neither.
std::vector<int64_t> ParseRankList(std::string_view text);

}  // namespace tutti::analyzer
