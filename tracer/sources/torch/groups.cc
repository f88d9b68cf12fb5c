#include "tracer/sources/torch/groups.h"

#include <algorithm>

namespace tutti::tracer::torch {

Group* GroupTable::Add(const void* object, wire::Backend backend, int32_t rank,
                       int32_t size) noexcept {
  const uint32_t index = used_.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMaxGroups) {
    used_.store(kMaxGroups, std::memory_order_relaxed);
    return nullptr;
  }
  Group& group = groups_[index];
  group.communicator = index + 1;
  group.backend = backend;
  group.rank = rank;
  group.size = size;
  group.object.store(object, std::memory_order_release);  // publishes the group
  return &group;
}

Group* GroupTable::Find(const void* object) noexcept {
  uint32_t index = std::min(used_.load(std::memory_order_acquire), kMaxGroups);
  while (index-- > 0) {
    if (groups_[index].object.load(std::memory_order_acquire) == object) {
      return &groups_[index];
    }
  }
  return nullptr;
}

Group* GroupTable::FindOrAdd(const void* object, wire::Backend backend) noexcept {
  Group* group = Find(object);
  return group != nullptr ? group : Add(object, backend, -1, -1);
}

}  // namespace tutti::tracer::torch
