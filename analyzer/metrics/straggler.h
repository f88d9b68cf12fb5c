// Who makes the others wait, and what that costs. The rank that waits least is the
// late one: ranks that look slow by their time in collectives are its victims.
//
//   ns        0         10        20        30        40
//   rank 0    [backward)  |first bucket)[wait......|last)
//   rank 1    [backward.............................)[last)
//                        ^ hands in its last bucket ^ 25 later
//
// Without the lateness rank 0 would have been done 25 earlier, though it waits for 15
// only: the first bucket's transfer is exposed because of it, too.
// Pure functions; callable from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti::analyzer {

// A value for each rank and step: values[rank][step].
using RankSeries = std::vector<std::vector<int64_t>>;

// Exposed wait of `rank` for `late_rank` in one step (a row of step_wait_for).
struct ExposedWaitFor {
  size_t step = 0;       // index into the steps that count, from 0
  size_t rank = 0;       // index into the ranks, from 0
  size_t late_rank = 0;  // the same
  int64_t wait_ns = 0;
};

// [late rank][step]: median over the other ranks of their wait for it. Every (step,
// rank, late_rank) at most once.
RankSeries MedianWaits(std::span<const ExposedWaitFor> waits, size_t steps, size_t ranks);

// How much later than the median of the others each value comes; 0 for a single one.
std::vector<int64_t> LatenessOf(std::span<const int64_t> times_ns);

// What the lateness costs the others: what they wait, and where that is more, what of
// the lateness their exposed communication could give back.
int64_t CostOfLateness(int64_t others_wait_ns, int64_t late_ns, int64_t others_exposed_ns);

struct RankDelay {
  int64_t cost_ns = 0;      // mean over steps
  int64_t net_cost_ns = 0;  // the same less the cost of the median other rank in each step
  int64_t noise_ns = 0;     // NoiseOfMean of the net cost; all of it for few steps
};

// One result per rank of `cost`; all zeros with one rank, or no step.
std::vector<RankDelay> RankDelays(const RankSeries& cost);

// By how much the mean of a series whose neighbours are alike may be off by chance (three
// standard errors if there were many batches; Student's t for as few as there are): its batch
// means (at least 5 batches, of at most 10) are taken as independent. Nothing for fewer
// than 5 values.
std::optional<double> NoiseOfMean(std::span<const double> series);

}  // namespace tutti::analyzer
