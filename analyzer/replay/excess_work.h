// How much longer a rank's own work takes in a step than the median of the other ranks', and in
// which of its operators that is: what goes away if the rank is to be like the others.
//
//   rank 0   [conv)[mm)                [backward)
//   rank 1   [conv)[mm.....excess.....)[backward)     mm is cut, backward stays as it is
//
// Own work is what a rank does while nobody else is involved. Built by one thread; const functions
// are callable from any.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/replay/event_graph.h"

namespace tutti::analyzer {

class ExcessWork {
 public:
  // Of a graph whose ranks and steps are counted by their places.
  ExcessWork(const EventGraph& graph, size_t ranks, size_t steps);

  // What is left of edges that are cut, by KeyOf(); others stay as they are. For each step and kind
  // the names give up together what the rank's total is above the median of the others'.
  using Factors = std::unordered_map<uint64_t, double>;
  Factors Without(const std::vector<bool>& is_chosen) const;
  uint64_t KeyOf(uint32_t rank, uint32_t step, TimeKind kind, uint32_t name) const {
    const uint64_t work = (uint64_t{rank} * steps_ + step) * kTimeKinds + static_cast<size_t>(kind);
    return (work << 32) | name;  // fewer than 2^32 works: there are fewer edges
  }

 private:
  struct OfName {
    uint32_t step;
    TimeKind kind;
    uint32_t name;
    uint32_t rank;
    int64_t work_ns;
  };
  void AddFactors(size_t begin, size_t end, const std::vector<bool>& is_chosen,
                  Factors& factors) const;

  size_t ranks_;
  size_t steps_;
  std::vector<OfName> work_;  // by step, kind, name, rank
};

}  // namespace tutti::analyzer
