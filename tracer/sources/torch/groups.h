// The process groups (communicators) of this process, in the order in which they were made.
// Every rank of a job makes its groups in the same order, so order and global ranks together
// name a group over ranks.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/wire/record.h"

namespace tutti::tracer::torch {

// A group's members never change but where said; it is never freed.
struct Group {
  std::atomic<const void*> object{
      nullptr};               // the c10d backend; the address may be used again later
  uint32_t communicator = 0;  // index in records, from 1
  wire::Backend backend = wire::Backend::kUnknown;
  int32_t rank = 0;  // own rank in the group, -1 unknown
  int32_t size = 0;
  std::atomic<int64_t> collectives{0};  // handed to it so far: the next one's sequence
  std::atomic<bool> described{false};   // its names and global ranks were recorded
};

inline constexpr uint32_t kMaxGroups = 1024;

class GroupTable {
 public:
  // A group that is being made at address |object|. nullptr when there are kMaxGroups.
  Group* Add(const void* object, wire::Backend backend, int32_t rank, int32_t size) noexcept;

  // The newest group at |object|, or nullptr.
  Group* Find(const void* object) noexcept;

  // The same; a group that was made before the tracer looked is added.
  Group* FindOrAdd(const void* object, wire::Backend backend) noexcept;

 private:
  std::atomic<uint32_t> used_{0};  // slots handed out, may pass kMaxGroups
  Group groups_[kMaxGroups]{};
};

}  // namespace tutti::tracer::torch
