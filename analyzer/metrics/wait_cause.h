// Who is behind the waits in collectives: a rank that arrives last may be late because it waited
// itself before, in a collective that those who wait for it now were no part of.
//
//   rank 0  [compute===================)[1)
//   rank 1  [compute==)[1 waits .......)[..)[2)      late for 2 because of rank 0
//   rank 2  [compute==)[2 waits ...............)     waits for rank 1; the cause is rank 0
//
// Each rank carries how much each other one has delayed it. Who leaves a collective carries
// what the last to arrive carried, and what that one is late by itself. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace tutti::analyzer {

// A rank's part in a collective.
struct Waiting {
  int64_t rank = 0;
  int64_t wait_ns = 0;
};

// Part of a wait.
struct CausedWait {
  int64_t rank = 0;   // who waits
  int64_t cause = 0;  // because of whom
  int64_t wait_ns = 0;
};

class WaitCauses {
 public:
  // A collective whose last member to arrive was `late`; collectives in order of the time at
  // which they were ready. The causes of each wait add up to it. O(members * causes).
  std::vector<CausedWait> Add(int64_t late, std::span<const Waiting> members);

 private:
  using Delays = std::map<int64_t, int64_t>;  // ns by the rank that caused them
  std::shared_ptr<const Delays> DelaysOf(int64_t rank) const;

  std::map<int64_t, std::shared_ptr<const Delays>> delays_;  // by rank
};

}  // namespace tutti::analyzer
