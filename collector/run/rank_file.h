// Names of rank files in a run directory, and taking one: rank-00007.sqlite, for later
// attempts attempt-1/rank-00007.sqlite; while being written with ".part" behind it.
//
// Several recorders may write into one run, and any of them may be killed at any moment.
// A name is taken by a claim, RUN/.spool/NAME.claim, that appears as a whole, with its
// owner in it: whoever comes after a killed owner goes on under the same name, and nobody
// else touches its ".part". The claim goes when the file has its final name.
// Callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/status.h"

namespace tutti::collector::run {

// Path relative to the run directory.
std::string RankFileName(int32_t rank, int32_t attempt);

struct ClaimedName {
  std::string name;  // relative, without ".part"
  int32_t rank;
  int32_t attempt;  // the one asked for, or the next that was free
};
// Takes such a path apart; absent if it is none.
std::optional<ClaimedName> ParseRankFileName(const std::string& name);

// The first name that is free or claimed by |owner| already, from |attempt| upwards.
Result<ClaimedName> ClaimRankFile(const std::string& run_path, const std::string& owner,
                                  int32_t rank, int32_t attempt);
// The same for a process whose rank nobody told: the first rank without a file.
Result<ClaimedName> ClaimFreeRank(const std::string& run_path, const std::string& owner);
// Whether |owner| has claimed |name|.
bool HasClaimed(const std::string& run_path, const std::string& owner, const std::string& name);

// Path of the ".part" of a claimed name, its directory made, the rest of an earlier try
// removed.
Result<std::string> CleanPartPath(const std::string& run_path, const std::string& name);

// Gives a finalised file its final name if it does not have it yet, and ends the claim.
Status PublishRankFile(const std::string& run_path, const std::string& name);

}  // namespace tutti::collector::run
