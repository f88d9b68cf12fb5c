// How the samples of a step are divided among ranks of different speeds. Pure; std only.
#ifndef TUTTI_WORKLOADS_COMMON_BALANCE_H_
#define TUTTI_WORKLOADS_COMMON_BALANCE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::workloads {

// The part of |rank|: of |batch| samples for each rank in all, as many as its share of |speeds|
// (one a rank, each above 0), at least one. The parts of all ranks add up to |batch| times the
// ranks, if that is possible.
int64_t ShareOf(int64_t batch, const std::vector<int64_t>& speeds, size_t rank);

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_BALANCE_H_
