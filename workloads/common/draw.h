// Random draws that are the same in every run and, given the same key, on every rank.
#ifndef TUTTI_WORKLOADS_COMMON_DRAW_H_
#define TUTTI_WORKLOADS_COMMON_DRAW_H_

#include <cstdint>

namespace tutti::workloads {

// A number of [low, high], uniform over keys (SplitMix64's mixing function). |low| <= |high|.
inline int64_t Draw(uint64_t key, int64_t low, int64_t high) {
  uint64_t bits = key + 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  bits ^= bits >> 31;
  return low + static_cast<int64_t>(bits % static_cast<uint64_t>(high - low + 1));
}

}  // namespace tutti::workloads

#endif  // TUTTI_WORKLOADS_COMMON_DRAW_H_
