// Who makes the others wait, and what that costs. The rank that waits least is the
// late one: ranks that look slow by their time in collectives are its victims.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti::analyzer {

// Exposed wait of `rank` for `late_rank` in one step (a row of step_wait_for).
struct ExposedWaitFor {
  size_t step = 0;       // index into the steady steps, from 0
  size_t rank = 0;       // index into the ranks, from 0
  size_t late_rank = 0;  // the same
  int64_t wait_ns = 0;
};

struct RankDelay {
  int64_t own_wait_ns = 0;     // its own waits, summed
  int64_t caused_wait_ns = 0;  // waits for it, summed over the others
  int64_t cost_ns = 0;         // mean over steps of the median over the others of their wait for it
  int64_t net_cost_ns = 0;     // cost less the median cost of the others: common jitter taken out
  int64_t noise_ns = 0;        // three standard errors of the net cost, over batches of steps
};

// One result per rank. Every (step, rank, late_rank) at most once. With one rank, or no
// step, all zeros. O(waits + steps * ranks * log ranks).
std::vector<RankDelay> RankDelays(std::span<const ExposedWaitFor> waits, size_t steps,
                                  size_t ranks);

// Three standard errors of the mean of a series whose neighbours are alike: its batch
// means (at least 5 batches, of at most 10) are taken as independent. Nothing for fewer
// than 5 values.
std::optional<double> ThreeStandardErrors(std::span<const double> series);

}  // namespace tutti::analyzer
