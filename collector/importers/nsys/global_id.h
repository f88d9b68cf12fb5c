// Nsight's 64-bit "serialized global ids": from the top hardware id (8 bits), virtual
// machine id (8), process id (24), thread id (24); ids of processes have thread 0.
// Source: Nsight Systems documentation, "SQLite Examples", serialized process and thread
// identifiers. Value types and pure functions.
#pragma once

#include <cstdint>

namespace tutti::collector::importers::nsys {

// One process of one machine: the id without its thread.
using ProcessKey = uint64_t;

inline constexpr uint64_t kIdMask = 0xff'ffff;

constexpr ProcessKey ProcessOf(int64_t global_id) { return static_cast<uint64_t>(global_id) >> 24; }
constexpr int64_t TidOf(int64_t global_id) {
  return static_cast<int64_t>(static_cast<uint64_t>(global_id) & kIdMask);
}
constexpr int64_t PidOf(ProcessKey process) { return static_cast<int64_t>(process & kIdMask); }

}  // namespace tutti::collector::importers::nsys
